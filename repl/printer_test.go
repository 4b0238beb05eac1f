package repl

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"gemline/commands/program/acceptance/teletype"
	"gemline/engine"
	"gemline/repl/output"
)

var update = flag.Bool("update-print", false, "rewrite testdata/print")

func TestPrint(t *testing.T) {
	files, err := filepath.Glob("testdata/print/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := printed(t, string(a.Files[0].Data))
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Error(diff)
			}
			if faults := teletype.Lint([]byte(got), teletype.Rules{Quiet: true}); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

// printed plays a script of events to a Printer and returns what it shows.
func printed(t *testing.T, script string) string {
	var b bytes.Buffer
	p := &Printer{Out: output.New(&b, output.Options{}), Kind: func(name string) engine.Kind {
		switch name {
		case "read_file":
			return engine.Read
		case "grep_search":
			return engine.Search
		}
		return engine.Execute
	}}
	now := time.Unix(0, 0)
	p.Begin(now)
	now = now.Add(2 * time.Second)
	unescape := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\x1b`, "\x1b", `\ `, " ")
	var end error
	for l := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		verb, rest, _ := strings.Cut(l, " ")
		agent, call, inside := strings.Cut(verb, "@") // helper@c1 text hi
		if inside {
			verb, rest, _ = strings.Cut(rest, " ")
		}
		args := strings.Split(rest, " | ")
		for i := range args {
			args[i] = unescape.Replace(args[i])
		}
		for len(args) < 4 {
			args = append(args, "")
		}
		finished := func(err error) engine.CallFinished {
			return engine.CallFinished{ID: args[0], Name: args[1], Intent: engine.Intent{Title: args[2]}, Err: err, Took: time.Second}
		}
		var ev engine.Event
		switch verb {
		case "text":
			ev = engine.Text{Delta: args[0]}
		case "full":
			p.Thoughts, p.Detail = true, FullDetail
			continue
		case "thought":
			ev = engine.Thought{Delta: args[0]}
		case "answered":
			ev = engine.AnswerFinished{}
		case "usage":
			var n int
			fmt.Sscan(args[0], &n)
			ev = engine.Usage{Model: "m", Total: n}
		case "start":
			ev = engine.CallStarted{ID: args[0], Name: args[1], Intent: engine.Intent{Title: args[2]}}
		case "output":
			ev = engine.Output{ID: args[0], Delta: args[1]}
		case "finish":
			ev = finished(nil)
		case "display":
			f := finished(nil)
			f.Result.Display = args[3]
			f.Result.Changes = []engine.Change{{Path: "/a.go", Added: 1, Removed: 1}}
			ev = f
		case "fail":
			ev = finished(&engine.CallError{Message: "for the model", Display: args[3]})
		case "deny":
			ev = finished(&engine.CallError{Type: engine.PolicyViolation, Display: "denied: " + args[3]})
		case "refuse":
			f := finished(fmt.Errorf("no: %w", engine.ErrRefused))
			f.Asked = true
			f.Err = refused()
			ev = f
		case "retry":
			ev = engine.Retry{Attempt: 1, MaxAttempts: 3, Delay: 2 * time.Second, Err: errors.New(args[0]), Restart: true}
		case "resume":
			ev = engine.Retry{Attempt: 1, MaxAttempts: 4, Delay: time.Second, Err: errors.New(args[0]), Resumed: true}
		case "turn":
			ev = engine.RequestStarted{}
		case "beat":
			var n int
			fmt.Sscan(args[0], &n)
			p.Progress(time.Unix(int64(n), 0))
			continue
		case "notice":
			ev = engine.Notice{Text: args[0]}
		case "error":
			end = errors.New(args[0])
			continue
		default:
			t.Fatalf("unknown event %q", l)
		}
		if inside {
			ev = engine.NestedEvent{ID: call, Agent: agent, Event: ev}
		}
		p.Print(ev, now)
	}
	p.End(end, now)
	return b.String()
}

func TestLongOutput(t *testing.T) {
	var b bytes.Buffer
	p := &Printer{Out: output.New(&b, output.Options{})}
	now := time.Unix(0, 0)
	p.Begin(now)
	p.Print(engine.CallStarted{ID: "1", Name: "run_shell_command", Intent: engine.Intent{Title: "run: seq 1000"}}, now)
	var full strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&full, i+1)
	}
	for s := full.String(); s != ""; s = s[min(7, len(s)):] {
		p.Print(engine.Output{ID: "1", Delta: s[:min(7, len(s))]}, now)
	}
	p.Print(engine.CallFinished{ID: "1", Name: "run_shell_command"}, now)
	p.End(nil, now)
	got := b.String()
	for _, want := range []string{"  1\n", "  20\n  (970 lines not shown; /show 1)\n  991\n", "  1000\nresult: ok\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if kept := p.Truncated(); len(kept) != 1 || kept[0].Text != full.String() {
		t.Errorf("kept %d outputs", len(kept))
	}
}

func TestRipe(t *testing.T) {
	tests := []struct {
		s    string
		pace Pace
		want int
	}{
		{"One. Two", BySentence, 5},
		{"One 1.5", BySentence, 0},
		{"One.\nTwo. Three", BySentence, 10},
		{"a b", ByToken, 3},
		{"a\n\nb\nc", ByParagraph, 3},
		{"a. b\n", AtEnd, 0},
	}
	for _, tt := range tests {
		if got := ripe(tt.s, tt.pace); got != tt.want {
			t.Errorf("ripe(%q, %d) = %d, want %d", tt.s, tt.pace, got, tt.want)
		}
	}
}
