package journal

import (
	"strings"
	"testing"

	"google.golang.org/genai"
)

// What hooks, compression, skills and the program add is none of the user's words.
func TestOwn(t *testing.T) {
	for in, want := range map[string]string{
		"fix the parser": "fix the parser",
		"<hook_context>today is Friday</hook_context>":                                  "",
		"<hook_context>a</hook_context>\n<hook_context>b</hook_context>\nfix it":        "fix it",
		"fix it\n\n<hook_context>a</hook_context>":                                      "fix it",
		"fix it <hook_context> b":                                                       "fix it <hook_context> b",
		"what is </hook_context>":                                                       "what is </hook_context>",
		"<hook_context>cut off":                                                         "",
		"<session_context>\nThis is\n</session_context>":                                "",
		"<session_context>\nThis is\n</session_context>\n\nfix it":                      "fix it",
		"<state_snapshot>\n<goal>x</goal>\n</state_snapshot>":                           "",
		summedUp + " The snapshot below\n<state_snapshot>x</state_snapshot>":            "",
		"<activated_skill name=\"pdf\">\n do\n</activated_skill>":                       "",
		"look at @a.go\n--- Content from referenced files ---\nContent from @a.go:\n x": "look at @a.go",
		"<system_note>\nThe user has named\n</system_note>":                             "",
		"System: Potential loop detected. Details: x. Please take a step back":          "",
		"System: Potential":         "System: Potential",
		"<hook_contexts> are what?": "<hook_contexts> are what?",
		"":                          "",
	} {
		if got := own(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

// The title of a session is its first question, whatever hooks add and however often it is
// compressed, and what a search finds in what was added is not said to be the user's.
func TestTitleIsTheFirstQuestion(t *testing.T) {
	const head = `{"sessionId":"0b3b6f6e-52a5-4c39-8d8e-3b3f5a0f6a11","projectHash":"h","startTime":"2026-11-01T10:00:00Z","lastUpdated":"2026-11-01T10:00:00Z","kind":"main"}` + "\n"
	user := func(id, parts string) string {
		return `{"id":"` + id + `","timestamp":"2026-11-01T10:00:01Z","type":"user","content":[` + parts + `]}`
	}
	snapshot := user("s", `{"text":"`+summedUp+` The snapshot\n<state_snapshot>\nabout parsers\n</state_snapshot>"}`)
	for name, c := range map[string]struct{ lines, want string }{
		"a hook before it":   {user("a", `{"text":"<hook_context>today</hook_context>"},{"text":"fix the parser"}`), "fix the parser"},
		"a hook alone":       {user("a", `{"text":"<hook_context>today</hook_context>"}`) + "\n" + user("b", `{"text":"fix the parser"}`), "fix the parser"},
		"a hook in its text": {user("a", `{"text":"<hook_context>today</hook_context>\nfix the parser"}`), "fix the parser"},
		"a skill":            {user("a", `{"text":"<activated_skill name=\"x\">y</activated_skill>"}`) + "\n" + user("b", `{"text":"fix the parser"}`), "fix the parser"},
		"compression": {user("a", `{"text":"fix the parser"}`) + "\n" + `{"$set":{"messages":[` + snapshot + `,` + user("b", `{"text":"and now the lexer"}`) + `]}}`,
			"fix the parser"},
		"twice": {user("a", `{"text":"fix the parser"}`) + "\n" + `{"$set":{"messages":[` + snapshot + `]}}` + "\n" + user("c", `{"text":"more"}`) + "\n" + `{"$set":{"messages":[` + snapshot + `]}}`,
			"fix the parser"},
		"taken back":        {user("a", `{"text":"fix the parser"}`) + "\n" + `{"$set":{"messages":[` + user("b", `{"text":"another"}`) + `]}}`, "another"},
		"as typed":          {strings.Replace(user("a", `{"text":"the text of files"}`), "}]}", `}],"displayContent":"fix it"}`, 1), "fix it"},
		"a path":            {user("a", `{"text":"/usr/bin/foo crashes, why?"}`), "/usr/bin/foo crashes, why?"},
		"a question mark":   {user("a", `{"text":"?what"}`), "?what"},
		"a command":         {user("a", `{"text":"/stats model"}`) + "\n" + user("b", `{"text":"?"}`), "(no question)"},
		"compression alone": {snapshot, "(no question)"},
	} {
		r := record{}
		for _, line := range append([]string{head}, strings.Split(c.lines, "\n")...) {
			r.line([]byte(line))
		}
		if got := r.summary().Title; got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
	for text, want := range map[string]string{"<hook_context>x</hook_context>": "added", "x": "you", summedUp + " x": "added"} {
		if who, _ := spokenBy(genai.RoleUser, &genai.Part{Text: text}); who != want {
			t.Errorf("%q: %s, not %s", text, who, want)
		}
	}
	history := []*genai.Content{genai.NewContentFromParts([]*genai.Part{{Text: "<hook_context>x</hook_context>"}, {Text: "fix it"}, {Text: "<hook_context>y</hook_context>"}}, genai.RoleUser),
		genai.NewContentFromText("Done.", genai.RoleModel), genai.NewContentFromText(summedUp+" x", genai.RoleUser)}
	if turns := Turns(history); len(turns) != 1 || turns[0].Question != "fix it" || turns[0].Answer != "Done." {
		t.Errorf("%+v", turns)
	}
}
