package repl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/report"
)

type turnFunc = engine.Run

// session returns a REPL that is given answers and runs turns.
func session(turns turnFunc, answers ...string) (*REPL, func() string) {
	c, shown := console(answers...)
	r := &REPL{Console: c, Run: turns, Printer: &Printer{Out: c.Out}}
	return r, shown.String
}

func echo(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		if parts[0].Text == "fail" {
			yield(nil, errors.New("the server is gone\nhint: try later"))
			return
		}
		yield(engine.Text{Delta: "You said " + parts[0].Text + "."}, nil)
	}
}

func TestLoop(t *testing.T) {
	tests := []struct {
		name    string
		answers []string
		want    string
	}{
		{"end", nil, "> \n"},
		{"turns", []string{"a", " ", "b"}, "> a\ngemini: You said a.\ndone: 0.0 s\n>  \n> b\ngemini: You said b.\ndone: 0.0 s\n> \n"},
		{"an error does not end it", []string{"fail", "a"}, "> fail\nerror: the server is gone\nhint: try later\ndone: failed after 0.0 s\n> a\ngemini: You said a.\ndone: 0.0 s\n> \n"},
		{"quit", []string{"quit", "a"}, "> quit\n"},
		{"interrupt twice", []string{"^C", "^C", "a"}, "> \ninfo: Ctrl-C again, Ctrl-D or /quit ends the session\n> \n"},
		{"interrupt between lines", []string{"^C", "a", "^C", "b"}, "> \ninfo: Ctrl-C again, Ctrl-D or /quit ends the session\n> a\ngemini: You said a.\ndone: 0.0 s\n> \ninfo: Ctrl-C again, Ctrl-D or /quit ends the session\n> b\ngemini: You said b.\ndone: 0.0 s\n> \n"},
		{"cleared line", []string{"^C text", "^C text", "a"}, "> \n> \n> a\ngemini: You said a.\ndone: 0.0 s\n> \n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, shown := session(echo, tt.answers...)
				r.Expand = func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) {
					if parts[0].Text == "quit" {
						return nil, input.ErrQuit
					}
					return parts, nil
				}
				if err := r.Loop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := shown(); got != tt.want {
					t.Errorf("got\n%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}

// In shell mode /quit is a command, so what ends the mode and the session is said.
func TestInterruptInShellMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, shown := session(echo, "^C")
		r.Prompt = func() string { return output.Shell }
		if err := r.Loop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := shown(), "! \ninfo: a lone ! ends shell mode, Ctrl-C again or Ctrl-D the session\n! \n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestLoopEndsWithItsOutput(t *testing.T) {
	gone := errors.New("gone")
	r, _ := session(echo, "a")
	r.Console.Out = output.New(deadEnd{gone}, output.Options{})
	r.Printer.Out = r.Console.Out
	r.Console.Lines = &scripted{out: r.Console.Out, answers: []string{"a", "b"}}
	if err := r.Loop(t.Context()); !errors.Is(err, gone) {
		t.Errorf("Loop: %v", err)
	}
}

type deadEnd struct{ err error }

func (f deadEnd) Write([]byte) (int, error) { return 0, f.err }

// While nothing else is shown, a line comes after 10 s and then every 30 s.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				time.Sleep(5 * time.Second)
				yield(engine.Text{Delta: "Wait. "}, nil)
				yield(engine.CallStarted{ID: "1", Name: "run_shell_command", Intent: engine.Intent{Title: "run: make"}}, nil)
				time.Sleep(45 * time.Second)
				yield(engine.CallFinished{ID: "1", Name: "run_shell_command"}, nil)
			}
		})
		if err := r.Do(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		want := "gemini: Wait.\ntool: run: make\nprogress: 15 s, running make\nprogress: 45 s, running make\nresult: ok\ndone: 50 s, 1 tool\n"
		if got := shown(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// While a hook runs, it is not the model that is waited for.
func TestProgressOfHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hook atomic.Value
		hook.Store("guard\a")
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(func(engine.Event, error) bool) {
				time.Sleep(75 * time.Second)
				hook.Store("")
				time.Sleep(30 * time.Second)
			}
		})
		r.Printer.Hook = func() string { return hook.Load().(string) }
		if err := r.Do(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		const running = `running the hook guard\x07` + "\n"
		want := "progress: 10 s, " + running + "progress: 40 s, " + running + "progress: 1 min 10 s, " + running +
			"progress: 1 min 40 s, waiting for the model, nothing has come for 1 min 40 s\ndone: 1 min 45 s\n"
		if got := shown(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// While a summary is made, that is what is waited for, until the next request.
func TestProgressOfCompression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				yield(engine.Notice{Text: "compressing", Info: true, Cause: engine.ErrCompressing}, nil)
				time.Sleep(45 * time.Second)
				yield(engine.RequestStarted{}, nil)
				time.Sleep(15 * time.Second)
			}
		})
		if err := r.Do(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		const doing = "compressing the conversation\n"
		want := "info: compressing\nprogress: 10 s, " + doing + "progress: 40 s, " + doing + "done: 1 min 0 s\n"
		if got := shown(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// What waits outside of a turn is told, and what it shows comes from who waits.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupts := make(chan os.Signal, 1)
		c, shown := console()
		c.Interrupts = interrupts
		said := ""
		work := func(ctx context.Context, show func(func())) {
			show(func() { said = "begun" })
			select {
			case <-ctx.Done():
			case <-time.After(45 * time.Second):
			}
		}
		doing := func() string { return "counting" }
		err := c.Wait(t.Context(), doing, work)
		want := "progress: 10 s, counting\nprogress: 40 s, counting\n"
		if err != nil || said != "begun" || shown.String() != want {
			t.Errorf("%v, %q, %q", err, said, shown.String())
		}
		interrupts <- os.Interrupt
		if err := c.Wait(t.Context(), doing, work); err != errInterrupt {
			t.Errorf("interrupted: %v", err)
		}
	})
}

// After a minute without a byte of the answer, the line says for how long. What
// comes and shows nothing counts, and a wait that was told of does not.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(yield func(engine.Event, error) bool, beat func())
		want string
	}{
		{"nothing comes", func(yield func(engine.Event, error) bool, _ func()) { time.Sleep(75 * time.Second) },
			"progress: 10 s, waiting for the model\nprogress: 40 s, waiting for the model\n" +
				"progress: 1 min 10 s, waiting for the model, nothing has come for 1 min 10 s\ndone: 1 min 15 s\n"},
		{"something that shows nothing", func(yield func(engine.Event, error) bool, beat func()) {
			time.Sleep(65 * time.Second)
			beat()
			time.Sleep(10 * time.Second)
		}, "progress: 10 s, waiting for the model\nprogress: 40 s, waiting for the model\n" +
			"progress: 1 min 10 s, waiting for the model\ndone: 1 min 15 s\n"},
		{"a pause", func(yield func(engine.Event, error) bool, _ func()) {
			yield(engine.Retry{Attempt: 1, MaxAttempts: 2, Delay: 70 * time.Second, Err: errors.New("busy")}, nil)
			time.Sleep(75 * time.Second)
		}, "warning: busy; asking again in 1 min 10 s, attempt 2 of 2\nprogress: 10 s, waiting for the model\n" +
			"progress: 40 s, waiting for the model\nprogress: 1 min 10 s, waiting for the model\ndone: 1 min 15 s\n"},
		{"a call", func(yield func(engine.Event, error) bool, _ func()) {
			yield(engine.CallStarted{ID: "1", Name: "f", Intent: engine.Intent{Title: "f"}}, nil)
			time.Sleep(75 * time.Second)
		}, "tool: f\nprogress: 10 s, f\nprogress: 40 s, f\nprogress: 1 min 10 s, f\ndone: 1 min 15 s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var heard atomic.Int64
				r, shown := session(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
					return func(yield func(engine.Event, error) bool) {
						c.run(yield, func() { heard.Store(time.Now().UnixNano()) })
					}
				})
				r.Printer.Heard = func() time.Time { return time.Unix(0, heard.Load()) }
				if err := r.Do(t.Context(), "x"); err != nil {
					t.Fatal(err)
				}
				if got := shown(); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// A failure is told with what to do about it, and before the line that closes
// the turn; so is that of a command.
func TestFailureInASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := errors.New("the quota is used up")
		r, shown := session(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				time.Sleep(600 * time.Millisecond)
				yield(engine.Text{Delta: "Hm"}, nil)
				yield(nil, busy)
			}
		}, "hi", "/no")
		r.Expand = func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) {
			if parts[0].Text == "/no" {
				return nil, errors.New("no such command")
			}
			return parts, nil
		}
		r.Outcome = func(err error) report.Outcome {
			if err == busy {
				return report.Outcome{Err: err, Hint: "wait a little"}
			}
			return report.Outcome{Err: err}
		}
		if err := r.Loop(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "> hi\ngemini: Hm\nerror: the quota is used up\nhint: wait a little\ndone: failed after 0.6 s\n> /no\nerror: no such command\n> \n"
		if got := shown(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// What is shown in between puts the next such line off, and brings it no nearer
// to the one before than 30 s.
func TestProgressInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				for _, pause := range []time.Duration{12, 1, 37} {
					time.Sleep(pause * time.Second)
					yield(engine.Notice{Text: "again"}, nil)
				}
			}
		})
		if err := r.Do(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		want := "progress: 10 s, waiting for the model\nwarning: again\nwarning: again\nprogress: 40 s, waiting for the model\nwarning: again\ndone: 50 s\n"
		if got := shown(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// Ctrl-C stops the turn, and the session goes on.
func TestInterruptedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupts := make(chan os.Signal, 1)
		turns := 0
		r, shown := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				if turns++; turns > 1 {
					yield(engine.Text{Delta: "here"}, nil)
					return
				}
				interrupts <- os.Interrupt
				<-ctx.Done()
				interrupts <- os.Interrupt
				time.Sleep(2 * time.Second)
				yield(nil, ctx.Err())
			}
		}, "one", "two")
		r.Console.Interrupts = interrupts
		if err := r.Loop(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "> one\n\nprogress: still stopping, waiting for the model\ndone: cancelled, 2.0 s\n> two\ngemini: here\ndone: 0.0 s\n> \n"
		if got := shown(); got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	})
}

// A question of a turn is asked on the terminal's goroutine, and a panic of a
// turn reaches the caller.
func TestTurn(t *testing.T) {
	r, shown := session(nil, "y")
	r.Asker = &Asker{Console: r.Console}
	r.Run = func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			a, err := r.Asker.Approve(ctx, proposal(engine.Intent{Title: "run: x", Detail: "x"}))
			yield(engine.Notice{Text: fmt.Sprintf("%T %v", a, err)}, nil)
		}
	}
	if err := r.Do(t.Context(), "go"); err != nil || !strings.Contains(shown(), "warning: engine.Allowed <nil>") {
		t.Errorf("%v\n%s", err, shown())
	}
	r.Run = func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(func(engine.Event, error) bool) { panic("fell") }
	}
	defer func() {
		if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "fell\n") {
			t.Errorf("recovered %.80s", v)
		}
	}()
	r.Do(t.Context(), "go")
	t.Error("no panic")
}

func TestCancelledSession(t *testing.T) {
	hup := errors.New("hung up")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, _ := session(func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			cancel(hup)
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	}, "one", "two")
	if err := r.Loop(ctx); err != hup {
		t.Errorf("Loop: %v", err)
	}
}
