package agent

import (
	"embed"
	"encoding/json"
	"strings"
	"time"
)

//go:embed doc/*.md
var docs embed.FS

// doc returns a text of this package.
func doc(name string) string {
	b, err := docs.ReadFile("doc/" + name + ".md")
	if err != nil {
		panic(err) // a mistake in this package
	}
	return strings.TrimSpace(string(b))
}

// Names of the agents that come with the program.
const (
	Investigator = "codebase_investigator"
	helper       = "cli_help"
	generalist   = "generalist"
)

const investigation = `{"type":"object","properties":{
"SummaryOfFindings":{"type":"string","description":"What was found, and what follows from it for the objective"},
"ExplorationTrace":{"type":"array","items":{"type":"string"},"description":"What you did, a step each"},
"RelevantLocations":{"type":"array","items":{"type":"object","properties":{
"FilePath":{"type":"string"},
"Reasoning":{"type":"string","description":"Why it matters"},
"KeySymbols":{"type":"array","items":{"type":"string"}}},
"required":["FilePath","Reasoning","KeySymbols"]}}},
"required":["SummaryOfFindings","ExplorationTrace","RelevantLocations"]}`

const helpReport = `{"type":"object","properties":{
"answer":{"type":"string"},
"sources":{"type":"array","items":{"type":"string"},"description":"The pages that it is from"}},
"required":["answer","sources"]}`

const generalReport = `{"type":"object","properties":{
"response":{"type":"string","description":"What was done and what came of it"}},
"required":["response"]}`

// BuiltIn returns the agents that come with the program.
func BuiltIn() []Definition {
	return []Definition{
		{Name: Investigator, Label: "Codebase Investigator", Source: "built-in",
			Description: "Looks into a codebase and reports how it works: for vague questions, root causes of bugs, and the plan of a change that touches many places. It reads and searches only. Say what you want to know and all that you know of it.",
			Prompt:      Prompt{Text: doc(Investigator), Input: "objective"},
			Access:      Access{Tools: []string{"list_directory", "read_file", "glob", "grep_search"}},
			Model:       Model{Class: "flash"}, Limits: Limits{Requests: 50}, Report: Report{Name: "report", Schema: investigation}},
		{Name: helper, Label: "CLI Help", Source: "built-in",
			Description: "Answers questions about gemline itself, from its own pages: its commands, settings, flags and files.",
			Prompt:      Prompt{Text: doc(helper), Input: "question"}, Access: Access{Tools: []string{"get_internal_docs"}},
			Model: Model{Class: "flash"}, Limits: Limits{Requests: 10, Time: 3 * time.Minute},
			Report: Report{Name: "report", Schema: helpReport, Display: answerWithSources}},
		{Name: generalist, Label: "Generalist", Source: "built-in",
			Description: "Has all your tools and works on a task by itself. For what would fill this conversation: batches of like changes, commands with long outputs, searches of many steps.",
			Prompt:      Prompt{Core: true, Input: "request"}, Limits: Limits{Requests: 20}, Report: Report{Name: "result", Schema: generalReport}},
	}
}

// answerWithSources is the report of [helper] as text.
func answerWithSources(report any) string {
	var r struct {
		Answer  string   `json:"answer"`
		Sources []string `json:"sources"`
	}
	b, _ := json.Marshal(report) // which fits the schema
	json.Unmarshal(b, &r)
	if len(r.Sources) == 0 {
		return r.Answer
	}
	return r.Answer + "\n\nSources:\n- " + strings.Join(r.Sources, "\n- ")
}
