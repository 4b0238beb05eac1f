package report

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
)

// A writes keeps what was written, write by write.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

func (w *writes) String() string { return strings.Join(*w, "") }

// A bench is a reporter with everything it writes, and a clock that moves a
// millisecond with every look.
type bench struct {
	Reporter
	out, err writes
	tally    *tally.Tally
	now      time.Time
}

func (b *bench) clock() time.Time {
	b.now = b.now.Add(time.Millisecond)
	return b.now
}

func newBench(format string, edit func(*Config)) *bench {
	b := &bench{tally: &tally.Tally{}, now: time.Date(2026, 11, 20, 20, 40, 23, 0, time.UTC)}
	r := Config{Out: &b.out, Err: &b.err, Session: "s-1", Tally: b.tally, Now: b.clock}
	if edit != nil {
		edit(&r)
	}
	b.Reporter = New(format, r)
	return b
}

func (b *bench) see(evs ...engine.Event) {
	for _, ev := range evs {
		b.tally.Observe(ev, b.now)
		b.Event(ev)
	}
}

var denied = engine.CallFinished{ID: "replace__2", Name: "replace", Intent: engine.Intent{Title: "edit a.txt"}, UnaskedAdvice: "--approval-mode auto_edit",
	Err: &engine.CallError{Type: engine.NeedsConfirmation, Message: "no one to ask", Display: "denied: nobody to ask. --approval-mode auto_edit"}}

// run is a session with a bit of everything.
var run = []engine.Event{
	engine.RequestStarted{Number: 1, Model: "gemini-2.5-flash"},
	engine.Thought{Delta: "hidden"},
	engine.Text{Delta: "Wrong."},
	engine.Retry{Attempt: 1, MaxAttempts: 3, Delay: 2 * time.Second, Err: errors.New("the connection broke"), Restart: true},
	engine.Text{Delta: "Let me \x1b[1mread"},
	engine.Text{Delta: "\x1b[0m \xc3"},
	engine.Text{Delta: "\xa9.\n\n"},
	engine.AnswerFinished{},
	engine.Usage{Model: "gemini-2.5-flash", Prompt: 10, Output: 2, Total: 12},
	engine.CallRequested{ID: "read_file__1", Name: "read_file", Args: map[string]any{"file_path": "a.txt"}},
	engine.CallRequested{ID: "replace__2", Name: "replace"},
	engine.CallRequested{ID: "run__3", Name: "run"},
	engine.CallRequested{ID: "run__4", Name: "run"},
	engine.CallStateChanged{ID: "read_file__1", Name: "read_file", State: engine.Scheduled},
	engine.CallFinished{ID: "read_file__1", Name: "read_file", Intent: engine.Intent{Paths: []string{"/src/a.txt"}}, Took: time.Millisecond},
	denied,
	engine.CallFinished{ID: "run__3", Name: "run", Result: engine.Result{Display: "\x1b[31mboom\x1b[m"},
		Err: &engine.CallError{Type: "shell_execute_error", Message: "boom\nExit Code: 2", Display: "failed exit 2"}},
	engine.CallFinished{ID: "run__4", Name: "run", Err: engine.ErrRefused, Asked: true},
	engine.RequestStarted{Number: 2, Model: "gemini-2.5-flash"},
	engine.Text{Delta: "Done.\n"},
	engine.Text{Delta: "\n"},
	engine.AnswerFinished{},
	engine.Usage{Model: "gemini-2.5-flash", Prompt: 20, Output: 3, Total: 23},
	engine.Notice{Text: "the answer was cut short"},
}

// inside returns ev as an agent's.
func inside(ev engine.Event) engine.Event {
	return engine.NestedEvent{ID: "agent__1", Agent: "helper", Event: ev}
}

// event returns some event, mostly a hostile one.
func event(r *rand.Rand) engine.Event {
	const bytes = "ab\n\r\x00\x07\x1b[]0;m\\\x7f\xc2\x9b\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xfe\"{}"
	text := func() string {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = bytes[r.IntN(len(bytes))]
		}
		return string(b)
	}
	errs := []error{nil, errors.New(text()), context.Canceled, engine.ErrRefused, &engine.CallError{Type: text(), Message: text(), Display: text()}}
	switch r.IntN(11) {
	case 0:
		return engine.RequestStarted{Number: r.IntN(9), Model: text()}
	case 1, 2, 3:
		return engine.Text{Delta: text()}
	case 4:
		return engine.CallRequested{ID: text(), Name: text(), Args: map[string]any{text(): text(), "n": []any{1.5, nil, text()}, "nan": nan()}}
	case 5:
		return engine.CallFinished{ID: text(), Name: text(), Err: errs[r.IntN(len(errs))], UnaskedAdvice: text(), Result: engine.Result{Display: text()}}
	case 6:
		return engine.Retry{Attempt: r.IntN(3), MaxAttempts: 3, Err: errs[r.IntN(len(errs))], Restart: r.IntN(2) == 0}
	case 7:
		return engine.Notice{Text: text()}
	case 8:
		return engine.AnswerFinished{}
	case 9:
		return engine.Usage{Model: text(), Prompt: r.IntN(100)}
	default:
		return engine.Output{ID: text(), Delta: text()}
	}
}
