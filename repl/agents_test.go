package repl

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// How far a server is that says so ten times a second is told by the line that says that work goes on.
func TestProgressOfServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				yield(engine.CallStarted{ID: "1", Name: "index", Intent: engine.Intent{Title: "index (docs)"}}, nil)
				for i := range 450 {
					yield(engine.Output{ID: "1", Delta: fmt.Sprintf("progress %d of 450: page\a %d\n", i, i), Stage: true}, nil)
					time.Sleep(100 * time.Millisecond)
				}
				yield(engine.CallFinished{ID: "1", Name: "index", Result: engine.Result{Display: "450 pages"}}, nil)
			}
		})
		if err := r.Do(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		got := shown()
		for _, want := range []string{"tool: index (docs)\nprogress: 10 s, index (docs), progress ", ` of 450: page\x07 `,
			"\nprogress: 40 s, index (docs), progress ", "\n  450 pages\nresult: ok\ndone: 45 s, 1 tool\n"} {
			if !strings.Contains(got, want) || strings.Count(got, "\n") != 6 {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	})
}

// Agents of one kind that work side by side have numbers, in their calls, their questions and the
// lines that say that work goes on. What they read comes together.
func TestAgentsOfOneKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *REPL
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				tell := func(ev engine.Event) { yield(ev, nil) }
				inside := func(id string, ev engine.Event) { tell(engine.NestedEvent{ID: id, Agent: "look", Event: ev}) }
				for _, id := range []string{"1", "2"} {
					tell(engine.CallRequested{ID: id, Name: "invoke_agent", Args: map[string]any{"agent_name": "look", "prompt": "at " + id}})
				}
				for _, id := range []string{"1", "2"} {
					tell(engine.CallStarted{ID: id, Name: "invoke_agent", Intent: engine.Intent{Title: "look: at " + id}})
				}
				for i := range 12 {
					for _, id := range []string{"1", "2"} {
						inside(id, engine.CallStarted{ID: fmt.Sprint(i), Name: "read_file", Intent: engine.Intent{Title: fmt.Sprintf("read %d.go", i)}})
					}
					time.Sleep(time.Second)
				}
				inside("2", engine.CallStateChanged{ID: "q", State: engine.AwaitingApproval})
				tell(engine.Notice{Info: true, Text: r.Printer.turn.agents.asking(engine.Proposal{ID: "q", Agent: "look", AgentCall: "2"}) + " asks"})
				inside("1", engine.Text{Delta: "Half.\n"})
				tell(engine.CallFinished{ID: "1", Name: "invoke_agent", Result: engine.Result{Display: "x"}})
				time.Sleep(40 * time.Second)
				inside("2", engine.Text{Delta: "Done.\n"})
				tell(engine.CallFinished{ID: "2", Name: "invoke_agent"})
				tell(engine.CallRequested{ID: "3", Name: "invoke_agent", Args: map[string]any{"agent_name": "look"}})
				tell(engine.CallStarted{ID: "3", Name: "invoke_agent", Intent: engine.Intent{Title: "look"}})
				tell(engine.CallFinished{ID: "3", Name: "invoke_agent"})
			}
		})
		r.Printer.Kind = func(name string) engine.Kind {
			return map[string]engine.Kind{"read_file": engine.Read}[name]
		}
		if err := r.Do(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		want := `tool: look 1: at 1
tool: look 2: at 2
tool: look 1: read 10 files
tool: look 2: read 10 files
progress: 10 s, look 2: at 2, and 1 more
tool: look 1: read 10.go, 11.go
tool: look 2: read 10.go, 11.go
info: look 2 asks
  look 1: Half.
result: look 1: ok
progress: 40 s, look 2: at 2
  look 2: Done.
result: look 2: ok
tool: look
result: ok
done: 52 s, 3 tools
`
		if got := shown(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
