// Package agent has agents. An agent is a model with its own task, tools and instructions;
// its report is the result of a call.
//
// A [Definition] describes an agent. [Tool] is the tool that calls agents. Another package
// makes the agent's conversation from an [engine.Engine]; a [Task] tells it about the call
// and reads its events.
//
// # One report
//
// An agent is done when it has called complete_task, whose argument is its report. An agent
// that ends without a report, or exceeds its requests or its time, is asked for the report
// once more. Only the report reaches the calling model.
//
// # The same policy
//
// The policy of the calling conversation judges an agent's calls, too. It knows which agent
// makes them, and the same front end asks the user. The agent's clock stops while the user
// is asked and while its output is shown.
//
// # Agents on other servers
//
// No policy here judges the work of a remote agent, so the user is asked about the call.
// The agent's answer is its report.
//
// # No nested agents
//
// An agent calls no agents, asks the user no questions, and can't start or end plan mode.
package agent

import (
	"time"

	"google.golang.org/genai"

	"gemline/tools/agent/remote"
)

// A Definition describes an agent.
type Definition struct {
	Name        string
	Label       string // the name that people read, may be empty
	Description string // for the model that may call it

	Source         string       // the origin: built-in, project, user, or the name of an extension
	File           string       // empty if it is built in
	Fingerprint    string       // a hash of the file's contents
	DisabledReason string       // why it can't be called, empty if it can
	Notes          []*FileError // parts of the file that have no effect or an unexpected effect

	// Misread are values that are not used as written, each with the effect on the agent.
	Misread []error

	Prompt Prompt
	Access Access

	// Remote is the server of a remote agent, nil for a local agent. A remote agent uses
	// neither Prompt nor Access, and only Limits.Time of the fields below.
	Remote *remote.Server

	Model  Model
	Limits Limits
	Report Report
}

// A Prompt is the system instruction; [Task.Instruction] fills placeholders such as
// ${query}.
type Prompt struct {
	Text  string
	Input string // the placeholder of the call's prompt, "" is query
	Core  bool   // gemline's own instruction comes before it
}

// An Access says what an agent may use.
type Access struct {
	Tools       []string       // names and patterns of allowed tools; nil allows all
	Except      []string       // names and patterns of forbidden tools
	Servers     map[string]any // MCP servers of its own, as settings have them
	UserServers map[string]any // MCP servers from the user's settings; they win over Servers
}

// A Model is the choice of a model and its parameters.
type Model struct {
	Name   string // empty is the model of the calling conversation
	Class  string // if Name is empty: a class within the calling model's family
	Config *genai.GenerateContentConfig
}

// Limits are how much an agent may do.
type Limits struct {
	Requests int           // 0 is DefaultTurns
	Time     time.Duration // 0 is DefaultTime
}

// A Report says how an agent reports.
type Report struct {
	Name    string // the argument of complete_task, "" is result
	Schema  string // the JSON schema of that argument, "" is a string
	Display func(report any) string
}

// The limits of an agent whose definition sets none.
const (
	DefaultTurns = 30
	defaultTime  = 10 * time.Minute
)
