package journal_test

import (
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/engine/steer"
)

// A hint comes back beside the answers that it went with, and is part of their turn.
func TestHintComesBack(t *testing.T) {
	dir := t.TempDir()
	first, err := journal.Open(journal.Config{Dir: dir}, journal.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	call := et.Call("1", "look")
	said := []engine.Entry{
		{Content: genai.NewContentFromText("go", genai.RoleUser)},
		{Content: genai.NewContentFromParts([]*genai.Part{{FunctionCall: call}}, genai.RoleModel)},
		{Content: genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionResponse("look", map[string]any{"output": "x"})}, genai.RoleUser),
			Calls: []engine.CallRecord{{ID: engine.CallID(call), Name: "look"}}},
		{Content: genai.NewContentFromParts([]*genai.Part{steer.HintPart(steer.Hint{Text: "in Go"})}, genai.RoleUser)},
		{Content: genai.NewContentFromText("done", genai.RoleModel)},
	}
	said[2].Content.Parts[0].FunctionResponse.ID = "1"
	said[2].Calls[0].Answer = said[2].Content.Parts
	for _, e := range said {
		if err := first.File.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	first.File.Close()
	again, err := journal.Open(journal.Config{Dir: dir}, journal.OpenOptions{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.File.Close()
	et.CheckHistory(t, again.History)
	if len(again.History) != len(said) {
		t.Errorf("%d messages, not %d", len(again.History), len(said))
	}
	turns := journal.Turns(again.History)
	if len(turns) != 1 || turns[0].Question != "go\n- in Go" || turns[0].Answer != "done" {
		t.Errorf("turns: %+v", turns)
	}
}
