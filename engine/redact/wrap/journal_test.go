package wrap_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/redact/wrap"
)

// What is kept has no secret in it, wherever it stood, and can be gone on with.
func TestJournal(t *testing.T) {
	const secret = "hunter2hunter2"
	f := journal.New(journal.Config{Dir: t.TempDir(), ID: "0123"})
	j := wrap.Journal(f, func(s string) string { return strings.ReplaceAll(s, secret, "[redacted: x]") })
	call := &genai.FunctionCall{ID: "1", Name: "run", Args: map[string]any{"command": "echo " + secret}}
	answer := []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "run", Response: map[string]any{"output": secret}}}}
	for _, e := range []engine.Entry{
		{Opening: true, Content: genai.NewContentFromText("Today is "+secret, genai.RoleUser)},
		{Content: genai.NewContentFromText("use "+secret, genai.RoleUser)},
		{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "I use " + secret}, {FunctionCall: call}}}, Thoughts: []string{"**so** " + secret}},
		{Content: &genai.Content{Role: genai.RoleUser, Parts: answer}, Calls: []engine.CallRecord{{ID: engine.CallID(call), Name: "run", Args: call.Args,
			Intent: engine.Intent{Title: "run: echo " + secret}, Answer: answer, Result: engine.Result{Text: secret, Display: secret,
				Tails: []engine.TailCall{{Name: "note", Args: map[string]any{"x": secret}, State: engine.Success, Display: secret}}}, Err: errors.New(secret)}}},
	} {
		if err := j.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "[redacted: x]"); strings.Contains(string(b), secret) || n < 11 || !strings.Contains(string(b), `"tailCalls":[{"name":"note","args":{"x":"[redacted: x]"},"status":"success","resultDisplay":"[redacted: x]"}]`) {
		t.Errorf("%d marks in %s", n, b)
	}
	if call.Args["command"] != "echo "+secret {
		t.Error("the conversation itself was changed")
	}
	c, err := journal.Load(f.Path())
	if err != nil || len(c.History) != 3 {
		t.Fatalf("%d messages, %v", len(c.History), err)
	}
	if got := c.History[1].Parts[1].FunctionCall.Args["command"]; got != "echo [redacted: x]" {
		t.Errorf("got %v", got)
	}
	if err := j.Rewrite([]*genai.Content{genai.NewContentFromText("summary of "+secret, genai.RoleUser)}); err != nil {
		t.Fatal(err)
	}
	if c, err = journal.Load(f.Path()); err != nil || len(c.History) != 1 || c.History[0].Parts[0].Text != "summary of [redacted: x]" {
		t.Errorf("rewritten: %v, %v", c, err)
	}
	f.Close()
}
