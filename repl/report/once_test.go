package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/engine/tally"
	"gemline/repl/input"
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

var denied = engine.Finished{ID: "replace__2", Name: "replace", Intent: engine.Intent{Title: "edit a.txt"}, Unasked: "--approval-mode auto_edit",
	Err: &engine.CallError{Type: engine.NeedsConfirmation, Message: "no one to ask", Display: "denied: nobody to ask. --approval-mode auto_edit"}}

// run is a session with a bit of everything.
var run = []engine.Event{
	engine.Requested{Number: 1, Model: "gemini-2.5-flash"},
	engine.Thought{Delta: "hidden"},
	engine.Text{Delta: "Wrong."},
	engine.Retry{Attempt: 1, Of: 3, Delay: 2 * time.Second, Err: errors.New("the connection broke"), Restart: true},
	engine.Text{Delta: "Let me \x1b[1mread"},
	engine.Text{Delta: "\x1b[0m \xc3"},
	engine.Text{Delta: "\xa9.\n\n"},
	engine.Answered{},
	engine.Usage{Model: "gemini-2.5-flash", Prompt: 10, Output: 2, Total: 12},
	engine.Called{ID: "read_file__1", Name: "read_file", Args: map[string]any{"file_path": "a.txt"}},
	engine.Called{ID: "replace__2", Name: "replace"},
	engine.Called{ID: "run__3", Name: "run"},
	engine.Called{ID: "run__4", Name: "run"},
	engine.State{ID: "read_file__1", Name: "read_file", State: engine.Scheduled},
	engine.Finished{ID: "read_file__1", Name: "read_file", Intent: engine.Intent{Paths: []string{"/src/a.txt"}}, Took: time.Millisecond},
	denied,
	engine.Finished{ID: "run__3", Name: "run", Result: engine.Result{Display: "\x1b[31mboom\x1b[m"},
		Err: &engine.CallError{Type: "shell_execute_error", Message: "boom\nExit Code: 2", Display: "failed exit 2"}},
	engine.Finished{ID: "run__4", Name: "run", Err: engine.ErrRefused, Asked: true},
	engine.Requested{Number: 2, Model: "gemini-2.5-flash"},
	engine.Text{Delta: "Done.\n"},
	engine.Text{Delta: "\n"},
	engine.Answered{},
	engine.Usage{Model: "gemini-2.5-flash", Prompt: 20, Output: 3, Total: 23},
	engine.Notice{Text: "the answer was cut short"},
}

// inside returns ev as an agent's.
func inside(ev engine.Event) engine.Event {
	return engine.Nested{ID: "agent__1", Agent: "helper", Event: ev}
}

func TestText(t *testing.T) {
	tests := []struct {
		name     string
		quiet    bool
		live     bool
		events   []engine.Event
		outcome  Outcome
		out, err string
	}{
		{name: "nothing"},
		{name: "a line", events: []engine.Event{engine.Text{Delta: "hi"}}, out: "hi\n"},
		{name: "lines too many", events: []engine.Event{engine.Text{Delta: "hi\n\n"}, engine.Text{Delta: "\n"}}, out: "hi\n"},
		{name: "a gap stays", events: []engine.Event{engine.Text{Delta: "hi\n\n"}, engine.Text{Delta: "\nho"}}, out: "hi\n\n\nho\n"},
		{name: "only a newline", events: []engine.Event{engine.Text{Delta: "\n"}}, out: "\n"},
		{name: "a failure", events: []engine.Event{engine.Text{Delta: "half"}},
			outcome: Outcome{Err: errors.New("the server is busy"), Hint: "try later"}, err: "error: the server is busy\nhint: try later\n"},
		{name: "a failure, live", live: true, events: []engine.Event{engine.Text{Delta: "half"}},
			outcome: Outcome{Err: errors.New("the server is busy")}, out: "half\n", err: "error: the server is busy\n"},
		{name: "a failure after what counted", events: []engine.Event{engine.Text{Delta: "I look."}, engine.Answered{}, engine.Requested{}, engine.Text{Delta: "half"}},
			outcome: Outcome{Err: errors.New("the server is busy")}, out: "I look.\n", err: "error: the server is busy\n"},
		{name: "what a cancellation left", events: []engine.Event{engine.Text{Delta: "half"}, engine.Answered{}},
			outcome: Outcome{ExitCode: 130, Message: "cancelled"}, out: "half\n", err: "error: cancelled\n"},
		{name: "everything", events: run, out: "Let me read \u00e9.\n\nDone.\n",
			err: "warning: the connection broke; asking again in 2.0 s, attempt 2 of 3; the answer begins again\n" +
				"warning: edit a.txt: denied: nobody to ask. --approval-mode auto_edit\n" +
				"warning: run: failed exit 2\nwarning: run: cancelled\nwarning: the answer was cut short\n"},
		{name: "everything, live", live: true, events: run, out: "Wrong.\nLet me read \u00e9.\n\nDone.\n",
			err: "warning: the connection broke; asking again in 2.0 s, attempt 2 of 3; the answer begins again\n" +
				"warning: edit a.txt: denied: nobody to ask. --approval-mode auto_edit\n" +
				"warning: run: failed exit 2\nwarning: run: cancelled\nwarning: the answer was cut short\n"},
		{name: "everything, quietly", quiet: true, events: run, out: "Let me read \u00e9.\n\nDone.\n"},
		{name: "a failure, quietly", quiet: true, outcome: Outcome{ExitCode: 130, Reason: "SIGINT", Message: "cancelled"}, err: "error: cancelled\n"},
		{name: "an agent", events: []engine.Event{engine.Text{Delta: "I ask."}, inside(engine.Text{Delta: "Wrong."}), inside(engine.Notice{Text: "half of it"}),
			inside(denied), engine.Text{Delta: " Done."}}, out: "I ask. Done.\n",
			err: "warning: helper: half of it\nwarning: helper: edit a.txt: denied: nobody to ask. --approval-mode auto_edit\n"},
		{name: "an unfinished sequence", events: []engine.Event{engine.Text{Delta: "a\x1b["}}, out: "a[\n"},
		{name: "an unfinished character", events: []engine.Event{engine.Text{Delta: "a\xe2\x82"}}, out: "a\\xe2\\x82\n"},
		{name: "a hostile error", outcome: Outcome{Err: errors.New("a\x1b]0;x\ab\x07\nc")}, err: "error: ab\nc\n"},
		{name: "carriage returns", events: []engine.Event{engine.Text{Delta: "rm -rf /\rls\r"}, engine.Text{Delta: "\n\r"}, engine.Text{Delta: "x\r"}}, out: "rm -rf /\\x0dls\r\n\\x0dx\\x0d\n"},
		{name: "invisible characters", events: []engine.Event{engine.Text{Delta: "a\u200b\u2060\ufeff\u00ad\U000e0041\u200db"}}, out: "a\\u{200b}\\u{2060}\\u{feff}\\u{ad}\\u{e0041}\u200db\n"},
		{name: "control characters", events: []engine.Event{engine.Text{Delta: "a\x00\x07\b\tb\r\nc\x7f"}}, out: "a\tb\r\nc\n"},
		{name: "another order", events: []engine.Event{engine.Text{Delta: "a\u202egpj.exe"}, engine.Notice{Text: "\u2066b\u2028c\u200d"}},
			out: "a\\u{202e}gpj.exe\n", err: "warning: \\u{2066}b\\u{2028}c\u200d\n"},
		{name: "several lines", outcome: Outcome{Err: errors.New("no key\n\nset A\nor B\n")}, err: "error: no key\nset A\nor B\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench("text", func(r *Config) { r.Quiet, r.Live = test.quiet, test.live })
			b.Begin(Init{})
			b.see(test.events...)
			if err := b.Finish(test.outcome); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(test.out, b.out.String()); diff != "" {
				t.Error("stdout", diff)
			}
			if diff := cmp.Diff(test.err, b.err.String()); diff != "" {
				t.Error("stderr", diff)
			}
		})
	}
}

// Text reaches a reader as it comes, if the report is live, or else when it is
// known to count.
func TestTextStreams(t *testing.T) {
	live := newBench("text", func(r *Config) { r.Live = true })
	held := newBench("text", nil)
	for i, delta := range []string{"one ", "two", "\n", "three"} {
		live.see(engine.Text{Delta: delta})
		held.see(engine.Text{Delta: delta})
		if len(live.out) != i+1 || len(held.out) != 0 {
			t.Fatalf("%q: wrote %q and %q", delta, live.out, held.out)
		}
	}
	held.see(engine.Answered{})
	if len(held.out) != 1 {
		t.Errorf("wrote %q", held.out)
	}
}

var errPipe = errors.New("broken pipe")

type broken struct{ n int }

func (b *broken) Write([]byte) (int, error) { b.n++; return 0, errPipe }

// Once writing has failed, the run is told and nothing more is written.
func TestBroken(t *testing.T) {
	for _, format := range []string{"text", "stream-json"} {
		var told []error
		w := &broken{}
		b := newBench(format, func(r *Config) { r.Out = w; r.Broken = func(err error) { told = append(told, err) } })
		b.Begin(Init{Prompt: "hi"})
		b.see(run...)
		if err := b.Finish(Outcome{}); !errors.Is(err, errPipe) {
			t.Errorf("%s: finish: %v", format, err)
		}
		if w.n != 1 || len(told) != 1 {
			t.Errorf("%s: %d writes, told %v", format, w.n, told)
		}
	}
}

type approver struct{}

func (approver) Approve(context.Context, engine.Proposal) (engine.Answer, error) {
	return engine.Unasked{Advice: "--yolo"}, nil
}

type asks struct{}

func (asks) Offers(engine.Tool) bool { return true }
func (asks) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Allow, engine.Reason{}
}
func (asks) Learn(engine.Grant, engine.Scope) error { return nil }

func failing(err error) engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write"}, Prepare: func(context.Context, map[string]any) (engine.Call, error) {
		return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) { return engine.Result{}, err }}, nil
	}}
}

func newOnce(b *bench, script *enginetest.Script, tools ...engine.Tool) *Once {
	return &Once{
		Model: "m", Ask: engine.New(engine.Config{Model: "m", Generator: script, Tools: engine.Tools(tools), Policy: asks{}, Approver: approver{}}).Run,
		Expand: input.Chain(), Reporter: b.Reporter, Tally: b.tally, Session: "s-2", Now: b.clock,
	}
}

// A run that nobody reads can be finished by someone else: the user is told,
// and the record that goes elsewhere is written.
func TestHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stuck := io.Pipe()
		var told, data bytes.Buffer
		r := New("text", Config{Out: stuck, Err: &told, JSON: &data, Now: time.Now})
		r.Begin(Init{Session: "s", Model: "m"})
		go func() {
			r.Event(engine.Text{Delta: "an answer"})
			r.Finish(Outcome{})
		}()
		synctest.Wait()
		err := r.Finish(Outcome{Err: errors.New("late"), ExitCode: 63, Reason: "timeout", Hurry: true})
		if err == nil || told.String() != "error: late\n" {
			t.Errorf("got %v; told %q", err, told.String())
		}
		if !strings.Contains(data.String(), `"exit_code": 63`) {
			t.Errorf("the record is %q", data.String())
		}
		stuck.CloseWithError(errors.New("gone"))
	})
}

// A run whose sandbox is still being tried can be finished, with its record.
func TestFinishedBeforeItBegan(t *testing.T) {
	for _, format := range []string{"json", "stream-json"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			tried := make(chan struct{})
			r := New(format, Config{Out: &out, Err: io.Discard, Now: time.Now, Facts: Facts{Sandbox: func() *Sandbox { <-tried; return nil }}})
			go r.Begin(Init{Session: "s", Model: "m"})
			synctest.Wait()
			if err := r.Finish(Outcome{Err: errors.New("late"), ExitCode: 63, Reason: "timeout", Hurry: true}); err != nil {
				t.Error(err)
			}
			close(tried)
			synctest.Wait()
			if n := strings.Count(out.String(), `"exit_code"`); n != 1 || strings.Contains(out.String(), `"init"`) {
				t.Errorf("%s: %s", format, out.String())
			}
		})
	}
}

func TestOnce(t *testing.T) {
	media := genai.NewPartFromBytes([]byte{1}, "image/png")
	// A chain that shows what it is given.
	expand := func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		return []*genai.Part{genai.NewPartFromText("<" + parts[0].Text + ">"), genai.NewPartFromText("more")}, nil
	}
	tests := []struct {
		name   string
		prompt Prompt
		want   []*genai.Part
	}{
		{"words", Prompt{Text: "hi"}, []*genai.Part{{Text: "<hi>"}, {Text: "more"}}},
		{"piped alone is the prompt", Prompt{Piped: "hi\n"}, []*genai.Part{{Text: "<hi\n>"}, {Text: "more"}}},
		{"piped beside words is data", Prompt{Piped: "@a\n", Text: "hi"}, []*genai.Part{{Text: "<stdin bytes=\"3\" encoding=\"utf-8\">\n@a\n</stdin>\n\n<hi>"}, {Text: "more"}}},
		{"media", Prompt{Text: "hi", Media: media}, []*genai.Part{{Text: "<hi>"}, {Text: "more"}, media}},
		{"media alone", Prompt{Media: media}, []*genai.Part{media}},
		{"spaces", Prompt{Text: "  ", Piped: "a"}, []*genai.Part{{Text: "<stdin bytes=\"1\" encoding=\"utf-8\">\na\n</stdin>\n\n<  >"}, {Text: "more"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench("text", nil)
			script := enginetest.NewScript(enginetest.Says("ok"))
			o := newOnce(b, script)
			o.Expand = expand
			if err := o.Run(t.Context(), test.prompt); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, script.Requests()[0].Contents[0].Parts); diff != "" {
				t.Error(diff)
			}
			if b.Finish(Outcome{}); b.out.String() != "ok\n" {
				t.Errorf("out %q", b.out)
			}
		})
	}
}

// What a slash command tells is the answer, and no model is asked.
func TestOnceCommand(t *testing.T) {
	for format, want := range map[string]string{"text": "help\n", "json": `"response": "help\n"`, "stream-json": `"role":"assistant","content":"help\n"`} {
		b := newBench(format, nil)
		script := enginetest.NewScript()
		o := newOnce(b, script)
		o.Expand = func(context.Context, []*genai.Part) ([]*genai.Part, error) {
			fmt.Fprintln(Speaker(b), "help")
			return nil, nil
		}
		if err := o.Run(t.Context(), Prompt{Text: "/help"}); err != nil {
			t.Fatal(err)
		}
		b.Finish(Outcome{})
		if !strings.Contains(b.out.String(), want) || len(script.Requests()) > 0 || len(b.err) > 0 {
			t.Errorf("%s: %s %s", format, b.out, b.err)
		}
	}
}

// A command that ends a session has nothing to end, which is no failure.
func TestOnceQuits(t *testing.T) {
	b := newBench("text", nil)
	o := newOnce(b, enginetest.NewScript())
	o.Expand = func(context.Context, []*genai.Part) ([]*genai.Part, error) { return nil, input.ErrQuit }
	if err := o.Run(t.Context(), Prompt{Text: "/quit"}); err != nil {
		t.Error(err)
	}
}

func TestOnceFails(t *testing.T) {
	full := &engine.CallError{Type: engine.NoSpaceLeft, Message: "no space left on device"}
	boom := errors.New("boom")
	tests := []struct {
		name   string
		prompt Prompt
		script *enginetest.Script
		is     func(error) bool
	}{
		{"nothing but space", Prompt{Text: " \n", Piped: "\n"}, enginetest.NewScript(), func(err error) bool { var e *input.Error; return errors.As(err, &e) }},
		{"no prompt", Prompt{}, enginetest.NewScript(), func(err error) bool { var e *input.Error; return errors.As(err, &e) }},
		{"model", Prompt{Text: "x"}, enginetest.NewScript(enginetest.Fails(boom)), func(err error) bool { return errors.Is(err, boom) }},
		{"full disk", Prompt{Text: "x"}, enginetest.NewScript(enginetest.Says("", enginetest.Call("1", "write")), enginetest.Says("ok")),
			func(err error) bool { return engine.ErrorType(err) == engine.NoSpaceLeft }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench("json", nil)
			o := newOnce(b, test.script, failing(full))
			if err := o.Run(t.Context(), test.prompt); err == nil || !test.is(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The calls beside one that met a full disk are answered, and the model is not
// asked again.
func TestFullDiskLeavesNoCallOpen(t *testing.T) {
	b := newBench("stream-json", nil)
	script := enginetest.NewScript(enginetest.Says("", enginetest.Call("1", "write"), enginetest.Call("2", "write")), enginetest.Says("ok"))
	o := newOnce(b, script, failing(&engine.CallError{Type: engine.NoSpaceLeft, Message: "no space left on device"}))
	if err := o.Run(t.Context(), Prompt{Text: "x"}); engine.ErrorType(err) != engine.NoSpaceLeft {
		t.Errorf("got %v", err)
	}
	out := strings.Join(b.out, "")
	if used, over := strings.Count(out, `"tool_use"`), strings.Count(out, `"tool_result"`); used != 2 || over != 2 || script.Left() != 1 {
		t.Errorf("%d calls, %d results, %d replies left:\n%s", used, over, script.Left(), out)
	}
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
		return engine.Requested{Number: r.IntN(9), Model: text()}
	case 1, 2, 3:
		return engine.Text{Delta: text()}
	case 4:
		return engine.Called{ID: text(), Name: text(), Args: map[string]any{text(): text(), "n": []any{1.5, nil, text()}, "nan": nan()}}
	case 5:
		return engine.Finished{ID: text(), Name: text(), Err: errs[r.IntN(len(errs))], Unasked: text(), Result: engine.Result{Display: text()}}
	case 6:
		return engine.Retry{Attempt: r.IntN(3), Of: 3, Err: errs[r.IntN(len(errs))], Restart: r.IntN(2) == 0}
	case 7:
		return engine.Notice{Text: text()}
	case 8:
		return engine.Answered{}
	case 9:
		return engine.Usage{Model: text(), Prompt: r.IntN(100)}
	default:
		return engine.Output{ID: text(), Delta: text()}
	}
}
