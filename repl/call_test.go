package repl

import (
	"strings"
	"testing"
	"time"

	"gemline/engine"
	"gemline/repl/output"
)

// A call that was never begun, such as the reading of a file outside of the
// workspace, is told with the path that it was given.
func TestCallThatNeverRan(t *testing.T) {
	for _, test := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"read_file", map[string]any{"file_path": "/etc/shadow"}, "tool: read /etc/shadow\nresult: failed: no\n"},
		{"list_directory", map[string]any{"dir_path": "../other"}, "tool: list_directory ../other\nresult: failed: no\n"},
		{"grep_search", map[string]any{"dir_path": "lib", "pattern": "x("}, "tool: grep_search lib\nresult: failed: no\n"},
		{"glob", map[string]any{"pattern": "[a"}, "tool: glob [a\nresult: failed: no\n"},
		{"read_file", map[string]any{"file_path": 7}, "tool: read_file\nresult: failed: no\n"},
		{"read_file", map[string]any{"file_path": "a\nb"}, `tool: read a\x0ab` + "\nresult: failed: no\n"},
		{"read_file", map[string]any{"file_path": strings.Repeat("a", 300)}, "tool: read " + strings.Repeat("a", 95) + "...\n"},
	} {
		var b strings.Builder
		p := &Printer{Out: output.New(&b, output.Options{}), Kind: func(string) engine.Kind { return engine.Read }}
		p.Begin(time.Unix(0, 0))
		p.Print(engine.CallRequested{ID: "1", Name: test.name, Args: test.args}, time.Unix(1, 0))
		p.Print(engine.CallFinished{ID: "1", Name: test.name, Err: &engine.CallError{Message: "No.", Display: "no"}}, time.Unix(1, 0))
		if got := b.String(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%v: %q, want %q", test.args, got, test.want)
		}
	}
}

// What was asked about is told when it has run, unless the question has shown it: a
// change of files.
func TestOutputOfAnAskedCall(t *testing.T) {
	change := []engine.Change{{Path: "/w/a", Added: 1}}
	for _, test := range []struct {
		result engine.Result
		want   string
	}{
		{engine.Result{Display: "issue 7: open"}, "tool: look up 7\n  issue 7: open\nresult: ok\n"},
		{engine.Result{Display: "@@ -0,0 +1 @@\n+x", Changes: change}, "tool: look up 7\nresult: ok, 1 line added\n"},
	} {
		var b strings.Builder
		p := &Printer{Out: output.New(&b, output.Options{})}
		now := time.Unix(0, 0)
		p.Begin(now)
		in := engine.Intent{Title: "look up 7"}
		p.Print(engine.CallStarted{ID: "1", Name: "lookup", Intent: in}, now)
		p.Print(engine.CallFinished{ID: "1", Name: "lookup", Intent: in, Asked: true, Result: test.result}, now)
		if got := b.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// Three calls that print run side by side, and end in every order. After each end
// the calls that are left print again; each output is remembered whole.
func TestCallsThatPrintSideBySide(t *testing.T) {
	nested := func(id, agent string, inner engine.Event) engine.Event {
		return engine.NestedEvent{ID: id, Agent: agent, Event: inner}
	}
	type event func(id, words string) engine.Event
	for name, test := range map[string]struct {
		event event
		said  string // what stands before the words, "-" if they are not remembered
	}{
		"commands": {func(id, words string) engine.Event { return engine.Output{ID: id, Delta: words} }, ""},
		"agents":   {func(id, words string) engine.Event { return nested(id, "a", engine.Text{Delta: words}) }, "a: "},
		"agents of agents": {func(id, words string) engine.Event {
			return nested(id, "a", nested("x", "b", engine.Text{Delta: words}))
		}, "a > b: "},
		"commands of agents": {func(id, words string) engine.Event {
			return nested(id, "a", engine.Output{ID: "x", Delta: words})
		}, "-"},
		"empty outputs": {func(id, _ string) engine.Event { return engine.Output{ID: id} }, "-"},
	} {
		for _, order := range []string{"123", "132", "213", "231", "312", "321"} {
			for _, detail := range []Detail{NormalDetail, ShortDetail, FullDetail} {
				var b strings.Builder
				p := &Printer{Out: output.New(&b, output.Options{}), Detail: detail}
				now := time.Unix(0, 0)
				p.Begin(now)
				for _, id := range []string{"1", "2", "3"} {
					p.Print(engine.CallStarted{ID: id, Name: "work"}, now)
				}
				for i := range order {
					for _, id := range order[i:] {
						p.Print(test.event(string(id), string(id)+" speaks.\n"), now)
					}
					p.Print(engine.CallFinished{ID: order[i : i+1], Name: "work"}, now)
				}
				p.End(nil, now)
				if n := strings.Count(b.String(), "result: "); detail != ShortDetail && n != len(order) {
					t.Errorf("%s in the order %s: %d results in\n%s", name, order, n, &b)
				}
				for i, out := range p.Truncated() { // what short detail does not show
					want := test.said + strings.Repeat(order[i:i+1]+" speaks.\n", i+1)
					if out.Text != want && test.said != "-" {
						t.Errorf("%s in the order %s: output %d is %q, want %q", name, order, i+1, out.Text, want)
					}
				}
				if n := len(p.Truncated()); n != 0 && n != len(order) {
					t.Errorf("%s in the order %s: %d outputs are remembered", name, order, n)
				}
			}
		}
	}
}
