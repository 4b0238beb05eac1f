package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/genai"

	"gemline/commands/program/acceptance/teletype"
	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/repl/input"
	"gemline/repl/output"
)

// TestMain runs this binary as a session at a terminal when asked to. The
// model wants to run a command whenever it is told to work, and then repeats
// what it was told about that.
func TestMain(m *testing.M) {
	if os.Getenv("REPL_PROGRAM") == "" {
		// Caught, so that the programs under test don't inherit that it is
		// ignored, as it is under nohup.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		os.Exit(m.Run())
	}
	os.Exit(terminalProgram())
}

func terminalProgram() int {
	mode := output.Decide(output.Signs{Terminal: true, Lookup: os.LookupEnv})
	out := output.New(os.Stdout, output.Options{Color: mode.Color})
	c := &Console{Out: out}
	screen := &Screen{Console: c, Config: LinesConfig{In: os.Stdin, Out: out, Screen: os.Stdout, Mode: output.Mode{Smart: mode.Smart, Limited: mode.Limited}}}
	if err := screen.Open(); err != nil {
		fmt.Println(err)
		return 1
	}
	defer screen.Close()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	// Caught until the very end: when a terminal goes away, the end of the input
	// may be seen before the signal comes.
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGHUP, syscall.SIGTERM)
	go func() { <-ends; stop() }()
	c.Interrupts = interrupts
	asker := &Asker{Console: c, Edit: func(_ context.Context, _, text string) (string, error) { return text + " -i", nil }}
	script := enginetest.NewScript()
	e := engine.New(engine.Config{Model: "m", Generator: script, Tools: engine.Tools{remover()}, Policy: alwaysAsk{map[engine.Grant]bool{}}, Approver: asker})
	r := &REPL{Console: c, Asker: asker, Run: e.Run, Printer: &Printer{Out: out}}
	r.Expand = func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		switch parts[0].Text {
		case "/quit":
			return nil, input.ErrQuit
		case "work":
			script.Add(enginetest.Says("On it.", &genai.FunctionCall{ID: fmt.Sprint(time.Now().UnixNano()), Name: "remove", Args: map[string]any{"name": "a"}}),
				enginetest.Says("Finished."))
		case "hang":
			script.Add(enginetest.Reply{Stall: true, Inspect: func(_ context.Context, req *engine.Request) { req.Notify(engine.Notice{Text: "hanging"}) }})
		case "slow":
			script.Add(enginetest.Reply{Chunks: enginetest.Says("On it.", &genai.FunctionCall{ID: "s", Name: "remove", Args: map[string]any{"name": "a"}}).Chunks,
				Inspect: func(_ context.Context, req *engine.Request) {
					req.Notify(engine.Notice{Text: "working"})
					teletype.Await(os.Getenv("REPL_READY"))
				}}, enginetest.Says("Finished."))
		default:
			script.Add(enginetest.Says("You said " + parts[0].Text + "."))
		}
		return parts, nil
	}
	switch err := r.Loop(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 129
	default:
		return 1
	}
}

// remover returns a tool that says that it removes something.
func remover() engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "remove"}, Kind: engine.Execute,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			what := fmt.Sprint("rm ", args["name"])
			return engine.Call{
				Intent: engine.Intent{Title: "run: " + what, Detail: what, Grants: []engine.Grant{{Label: "always this command", Tool: "remove", Target: what}},
					Draft: &engine.Draft{Name: "command.sh", Text: what, Args: func(s string) map[string]any {
						return map[string]any{"name": strings.TrimPrefix(s, "rm ")}
					}}},
				Run: func(_ context.Context, h engine.Host) (engine.Result, error) {
					h.Emit(engine.Output{Delta: "removed " + what + "\n"})
					return engine.Result{Text: "ok"}, nil
				},
			}, nil
		}}
}

// alwaysAsk asks about everything that was not granted.
type alwaysAsk struct{ granted map[engine.Grant]bool }

func (alwaysAsk) Offers(engine.Tool) bool { return true }
func (a alwaysAsk) Judge(_ context.Context, p engine.Proposal) (engine.Verdict, engine.Reason) {
	for _, g := range p.Intent.Grants {
		if a.granted[g] {
			return engine.Allow, engine.Reason{}
		}
	}
	return engine.Ask, engine.Reason{}
}
func (a alwaysAsk) Learn(g engine.Grant, _ engine.Scope) error { a.granted[g] = true; return nil }

func terminal(t *testing.T, term string, env ...string) *teletype.Session {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := teletype.Start(t, teletype.Command{Path: exe, Term: term, Env: append(env, "REPL_PROGRAM=1")})
	s.Expect("> ")
	return s
}

const (
	offered = "y n a e ? (a = always this command): "
	again   = "y n a e ?: "
)

// A whole session on a terminal that can only append, and on one that can do
// more, reads the same.
func TestSession(t *testing.T) {
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			s := terminal(t, term)
			s.Line("hello")
			s.Expect("You said hello.\r\n")
			s.Expect("> ")
			s.Line("work")
			s.Expect("On it.\r\n")
			s.Expect("run: rm a\r\n")
			s.Expect(offered)
			s.Line("maybe")
			s.Expect("\"maybe\" is none of the choices; ? explains them\r\n")
			s.Expect(again)
			s.Line("?")
			s.Expect(`"name": "a"`)
			s.Expect(again)
			s.Line("n because it is mine")
			s.Expect("refused\r\n")
			s.Expect("Finished.\r\n")
			s.Expect("> ")
			s.Line("work")
			s.Expect(offered)
			s.Line("e")
			s.Expect("run: rm a -i\r\n")
			s.Expect(offered)
			s.Line("y")
			s.Expect("  removed rm a -i\r\n")
			s.Expect("ok\r\n")
			s.Expect("> ")
			s.Line("work")
			s.Expect(offered)
			s.Line("a")
			s.Expect("  removed rm a\r\n")
			s.Expect("> ")
			s.Line("work")
			s.Expect("  removed rm a\r\n") // unasked
			s.Expect("> ")
			s.Line("work")
			s.Expect("Finished.")
			s.Expect("> ")
			s.Send("\x04")
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if faults := teletype.Lint(s.Transcript(), teletype.Rules{Smart: term != "dumb", Quiet: true}); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
			if term != "dumb" {
				return
			}
			var labels []string
			for _, l := range output.Labels() {
				labels = append(labels, string(l))
			}
			if faults := teletype.Overprinted(s.Transcript(), labels...); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

// What was typed while the model worked answers nothing.
func TestTypeAheadAnswersNothing(t *testing.T) {
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := terminal(t, term, "REPL_READY="+ready.Addr)
			s.Line("slow")
			s.Expect("working\r\n")
			s.Send("y\ry\rmind the dog\r")
			s.Expect("queued: mind the dog\r\n")
			ready.Open()
			s.Expect("4 characters typed before the question were dropped\r\n")
			s.Expect(offered)
			s.Line("")
			s.Expect("refused")
			s.Expect("> mind the dog\r\n")
			s.Expect("You said mind the dog.")
			s.Expect("> ")
		})
	}
}

func TestInterrupt(t *testing.T) {
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			s := terminal(t, term)
			s.Line("hang")
			s.Expect("hanging\r\n")
			s.Send("\x03")
			s.Expect("cancelled, ")
			s.Expect("> ")
			s.Line("next")
			s.Expect("You said next.")
			s.Expect("> ")
			s.Line("work")
			s.Expect(offered)
			s.Send("\x03")
			s.Expect("cancelled, ")
			s.Expect("> ")
			s.Line("again")
			s.Expect("Finished.") // the answer that was left over
			s.Expect("> ")
			s.Send("\x03")
			s.Expect("Ctrl-C again")
			s.Expect("> ")
			s.Send("\x03")
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
		})
	}
}

func TestSignals(t *testing.T) {
	tests := []struct {
		name string
		end  func(*teletype.Session)
	}{
		{"SIGTERM", func(s *teletype.Session) { s.Signal(syscall.SIGTERM) }},
		{"hang-up", func(s *teletype.Session) { s.HangUp() }},
	}
	for _, tt := range tests {
		for _, busy := range []bool{false, true} {
			for _, term := range []string{"dumb", "xterm"} {
				t.Run(fmt.Sprint(tt.name, " busy=", busy, " ", term), func(t *testing.T) {
					s := terminal(t, term)
					if busy {
						s.Line("hang")
						s.Expect("hanging")
					}
					tt.end(s)
					if code := s.Exit(); code != 129 && tt.name != "hang-up" || code < 0 {
						t.Errorf("exit %d", code)
					}
				})
			}
		}
	}
}

func TestQuit(t *testing.T) {
	s := terminal(t, "dumb")
	s.Line("/quit")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if got := string(s.Transcript()); got != "> /quit\r\n" {
		t.Errorf("%q", got)
	}
}
