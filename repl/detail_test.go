package repl

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/repl/output"
)

// The same turn at each level of detail.
func TestDetail(t *testing.T) {
	const done = "done: 0.0 s, 3 tools (1 failed)\n"
	for _, tt := range []struct {
		name     string
		detail   Detail
		thoughts bool
		want     string
	}{
		{"short", ShortDetail, true, "gemini: First.\ntool: run: false\nresult: failed exit 1\ngemini: Last.\n" + done},
		{"normal", NormalDetail, true, "gemini: First.\ntool: run: ls\n  a\nresult: ok\ntool: run: false\nresult: failed exit 1\ntool: read a\ngemini: Last.\n" + done},
		{"full", FullDetail, false, "gemini: First.\ninfo: run is called with:\n  a: one\n  two\n  n: [1,\"<\"]\ntool: run: ls\n  a\nresult: ok\ninfo: run is called with:\ntool: run: false\nresult: failed exit 1\ninfo: read_file is called with:\n  path: a\ntool: read a\n  text of a\nresult: ok\ngemini: Last.\n" + done},
		{"thoughts", FullDetail, true, "progress: thinking: Hm.\nprogress: thinking: error: no\ngemini: First.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			p := &Printer{Out: output.New(&b, output.Options{}), Detail: tt.detail, Thoughts: tt.thoughts, Kind: func(name string) engine.Kind {
				if name == "read_file" {
					return engine.Read
				}
				return engine.Execute
			}}
			now := time.Unix(0, 0)
			p.Begin(now)
			for _, ev := range []engine.Event{
				engine.Thought{Delta: "Hm.\n\nerr"}, engine.Thought{Delta: "or: no"}, engine.Text{Delta: "First."},
				engine.CallRequested{ID: "1", Name: "run", Args: map[string]any{"a": "one\ntwo\n", "n": []any{1, "<"}}},
				engine.CallStarted{ID: "1", Name: "run", Intent: engine.Intent{Title: "run: ls"}}, engine.Output{ID: "1", Delta: "a\n"}, engine.CallFinished{ID: "1", Name: "run"},
				engine.CallRequested{ID: "2", Name: "run"},
				engine.CallStarted{ID: "2", Name: "run", Intent: engine.Intent{Title: "run: false"}}, engine.CallFinished{ID: "2", Name: "run", Err: errors.New("exit 1")},
				engine.CallRequested{ID: "3", Name: "read_file", Args: map[string]any{"path": "a"}},
				engine.CallStarted{ID: "3", Name: "read_file", Intent: engine.Intent{Title: "read a"}},
				engine.CallFinished{ID: "3", Name: "read_file", Result: engine.Result{Display: "text of a"}},
				engine.Text{Delta: "Last."},
			} {
				p.Print(ev, now)
			}
			p.End(nil, now)
			got := b.String()
			if tt.name == "thoughts" {
				got = got[:min(len(got), len(tt.want))]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is kept of outputs has an end.
func TestKept(t *testing.T) {
	var b bytes.Buffer
	p := &Printer{Out: output.New(&b, output.Options{}), Detail: ShortDetail}
	p.Begin(time.Unix(0, 0))
	for range mostKept + 20 {
		p.Print(engine.CallFinished{ID: "1", Name: "run", Result: engine.Result{Display: "x"}}, time.Unix(0, 0))
	}
	if kept := p.Truncated(); len(kept) != mostKept || kept[0].Number != 21 {
		t.Errorf("%d kept, from %d on", len(kept), kept[0].Number)
	}
	long := strings.Repeat("line of text\n", fullBytes/10)
	for range 30 {
		p.Print(engine.CallFinished{ID: "1", Name: "run", Result: engine.Result{Display: long}}, time.Unix(0, 0))
	}
	size := 0
	for _, k := range p.Truncated() {
		size += len(k.Text)
	}
	last := p.Truncated()[len(p.Truncated())-1]
	if size > keptBytes || last.Number != mostKept+50 || !strings.HasSuffix(last.Text, "\n(the first 1 MB are remembered)\n") {
		t.Errorf("%d bytes, the last is %d and ends with %q", size, last.Number, last.Text[len(last.Text)-40:])
	}
}
