//go:build linux

package protocol

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// statesOf returns the states of a call, in order.
func (h *gist) statesOf(id string) (states []string) {
	for _, u := range h.updates {
		if strings.HasSuffix(u.Request.CallID, id) {
			states = append(states, u.Status)
		}
	}
	return states
}

// A program that was written for the Gemini CLI's server finds in each update of a call what
// it shows of it, and in what is asked about an edit, and in its result, both texts and the
// difference. What the model thinks has a subject, the end has the tokens, and to cancel a
// call ends the turn.
func TestA2AUpdatesByJavaScript(t *testing.T) {
	t.Parallel()
	node, sdk := javaScript(t)
	counted := et.Message(&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "Done."}}})
	counted.Chunks[0].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: 100, CandidatesTokenCount: 7, ThoughtsTokenCount: 3, TotalTokenCount: 110}
	edits := func(id string) *genai.FunctionCall {
		return et.Call(id, "replace", "file_path", "a.txt", "old_string", "one", "new_string", "two", "instruction", "count on")
	}
	thinking := et.Reply{Chunks: []*genai.GenerateContentResponse{
		et.Chunk("", et.Thought("**Plan")), et.Chunk("", et.Thought("ning**\n\nFirst the file.")),
		et.Chunk("", et.Thought(" Then the rest.")),
		et.Chunk(genai.FinishReasonStop, &genai.Part{FunctionCall: edits("1")})}}
	s := et.NewServer(thinking, counted,
		et.Says("", et.Call("2", "read_file", "file_path", "a.txt"), et.Call("3", "run_shell_command", "command", "touch made"),
			et.Call("4", "run_shell_command", "command", "touch more")),
		et.Says("Going on."))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"a.txt": "one\n"})
	p := peerOf(t, s, node, sdk, dir)

	ask := p.hear(p.call("sendMessageStream", messageOf("1", nil, spoken("count on"))), nil)
	if len(ask.thoughts) != 2 || ask.thoughts[0].Subject != "Planning" || ask.thoughts[0].Description != "First the file." ||
		ask.thoughts[1].Subject != "Planning" || ask.thoughts[1].Description != " Then the rest." {
		t.Errorf("thoughts: %+v", ask.thoughts)
	}
	d := ask.asked.Data.ConfirmationDetails
	if d["type"] != "edit" || d["originalContent"] != "one\n" || d["newContent"] != "two\n" || d["fileName"] != "a.txt" ||
		d["filePath"] != filepath.Join(dir, "a.txt") || !strings.Contains(d["fileDiff"].(string), "+two") {
		t.Errorf("asked: %v; %s", d, p.told())
	}
	done := p.hear(p.call("sendMessageStream", messageOf("2", ask, ask.answering("proceed_always_tool"))), nil)
	if states := append(ask.statesOf("1"), done.statesOf("1")...); !slices.Equal(states,
		[]string{"scheduled", "awaiting_approval", "scheduled", "executing", "success"}) {
		t.Errorf("states: %q", states)
	}
	for _, u := range append(ask.updates, done.updates...) {
		if u.Request.Args["old_string"] != "one" || u.Tool.DisplayName != "Edit" || u.Tool.Kind != "edit" ||
			u.Tool.Description == "" || u.Tool.Schema["parametersJsonSchema"] == nil {
			t.Errorf("%s: %+v", u.Status, u)
		}
	}
	if len(done.updates) == 0 {
		t.Fatalf("%+v; %s", done, p.told())
	}
	r, _ := done.updates[len(done.updates)-1].Response["resultDisplay"].(map[string]any)
	if r["originalContent"] != "one\n" || r["newContent"] != "two\n" || r["fileDiff"] != d["fileDiff"] || r["isNewFile"] != false {
		t.Errorf("result: %v", r)
	}
	if u := done.last.Metadata.UsageMetadata; done.said != "Done." || u["promptTokenCount"] != 100 || u["candidatesTokenCount"] != 7 || u["totalTokenCount"] != 110 {
		t.Errorf("end: %+v", done.last)
	}

	ask = p.hear(p.call("sendMessageStream", messageOf("3", done, spoken("run it"))), nil)
	denied := p.hear(p.call("sendMessageStream", messageOf("4", ask, ask.answering("cancel"))), nil)
	if denied.said != "" || denied.last.Status.State != "input-required" || !denied.last.Final {
		t.Errorf("cancelled: %+v; %s", denied, p.told())
	}
	for _, id := range []string{"3", "4"} {
		if states := denied.statesOf(id); len(states) == 0 || states[len(states)-1] != "cancelled" {
			t.Errorf("call %s: %q", id, states)
		}
	}
	asked := len(pt.Streamed(s))
	on := p.hear(p.call("sendMessageStream", messageOf("5", denied, spoken("go on then"))), nil)
	if on.said != "Going on." || len(pt.Streamed(s)) != asked+1 {
		t.Errorf("after that: %+v; %s", on, p.told())
	}
	for _, name := range []string{"made", "more"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}
