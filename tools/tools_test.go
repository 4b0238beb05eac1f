package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// Every byte of a declaration is sent with every request. The tracker, which is
// there only for whoever wants it, has a limit of its own.
func TestDeclarationsAreLean(t *testing.T) {
	ws, err := workspace.New(workspace.Config{Roots: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	const most, mostTracker = 8850, 2200 // of the tools for plans, one is there at a time
	total, tracked := 0, 0
	for _, tool := range New(Families{Files: files.Tools{Workspace: ws}, Commands: command.Tools{Launcher: &launch.Launcher{Jobs: shell.NewJobs(t.TempDir())}}}) {
		b, err := json.Marshal(tool.Declaration)
		if err != nil {
			t.Errorf("%s: %v", tool.Name(), err)
		}
		if strings.HasPrefix(tool.Name(), "tracker_") {
			tracked += len(b)
		} else {
			total += len(b)
		}
		t.Logf("%s: %d bytes", tool.Name(), len(b))
		if tool.Label == "" || tool.Declaration.Description == "" {
			t.Errorf("%s has no label or no description", tool.Name())
		}
	}
	if total > most || tracked > mostTracker {
		t.Errorf("the declarations take %d bytes, at most %d; those of the tracker %d, at most %d", total, most, tracked, mostTracker)
	}
}

// What a schema requires it also describes.
func TestSchemasDescribeWhatTheyRequire(t *testing.T) {
	ws, err := workspace.New(workspace.Config{Roots: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range New(Families{Files: files.Tools{Workspace: ws}, Commands: command.Tools{Launcher: &launch.Launcher{Jobs: shell.NewJobs(t.TempDir())}}}) {
		var s struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(tool.Declaration.ParametersJsonSchema.(json.RawMessage), &s); err != nil {
			t.Errorf("%s: %v", tool.Name(), err)
		}
		for _, name := range s.Required {
			if _, ok := s.Properties[name]; !ok {
				t.Errorf("%s requires %s, which it does not describe", tool.Name(), name)
			}
		}
	}
}

// In plan mode no tool runs unasked that may change something or reach for the network.
func TestPlanMode(t *testing.T) {
	p := policy.New(policy.Plan)
	p.Confined = func() bool { return true }
	for _, tool := range New(Families{}).Tools() {
		v, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool})
		if may := tool.Kind.ReadOnly() && tool.Kind != engine.Fetch || tool.Kind == engine.AskUser; may != (v == engine.Allow) {
			t.Errorf("%s, which is of kind %s, is judged %d", tool.Name(), tool.Kind, v)
		}
	}
}
