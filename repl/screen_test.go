package repl

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/output"
)

// A turn of five seconds calls for attention when it is over, once; a shorter
// one, and one that the user has stopped, does not.
func TestLongTurn(t *testing.T) {
	for _, tt := range []struct {
		name string
		took time.Duration
		err  error
		want string // the calls
	}{
		{"short", 4 * time.Second, nil, ""},
		{"long", 5 * time.Second, nil, "\x1b]9;gemline: done: 5.0 s\a"},
		{"failed", time.Minute, errors.New("no"), "\x1b]9;gemline: failed: 1 min 0 s\a"},
		{"stopped", time.Minute, errInterrupt, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := session(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
					return func(yield func(engine.Event, error) bool) {
						time.Sleep(tt.took)
						if tt.err != nil {
							yield(nil, tt.err)
						}
					}
				}, "go")
				var calls strings.Builder
				r.Console.Notifier = &Notifier{Method: "osc9", Smart: true, Terminal: &calls, Lookup: func(string) (string, bool) { return "", false }}
				if err := r.Loop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := calls.String(); got != tt.want {
					t.Errorf("%q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestScreen(t *testing.T) {
	c, _ := console()
	smart := output.Mode{Smart: true, Color: true, Marks: true, Cause: "terminal"}
	s := &Screen{Console: c, Printer: &Printer{Out: c.Out}, Mode: smart, Best: smart, Lookup: func(string) (string, bool) { return "", false }}
	s.Columns = func() int { return 80 }
	s.Begin()
	if s.Printer.Answers.View == nil {
		t.Error("answers are put in words for those who see")
	}
	for _, step := range []struct {
		do         func(string) (string, error)
		word, want string // part of what is said
	}{
		{s.SetPace, "", "token"},
		{s.SetPace, "slowly", "is none of sentence, token, paragraph, final"},
		{s.SetAccessible, "", "off"},
		{s.SetAccessible, "on", "on (/accessible)"},
		{s.SetPace, "", "sentence"},
		{s.SetVi, "toggle", "vi keys: on, but in plain mode"},
		{s.SetPace, "Final", "final"},
		{s.SetAccessible, "off", "off"},
		{s.SetPace, "", "final"},
		{s.SetAccessible, "perhaps", `on or off, not "perhaps"`},
		{s.SetVi, "toggle", "vi keys: off"},
		{s.SetDetail, "", "normal"},
		{s.SetDetail, "short", "short"},
		{s.SetDetail, "long", "one of normal, short, full"},
	} {
		said, err := step.do(step.word)
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, step.want) {
			t.Errorf("%q: %q, want %q", step.word, said, step.want)
		}
	}
	if s.Printer.Answers.Pace != AtEnd || s.Printer.Detail != ShortDetail || len(s.Entered()) > 0 {
		t.Errorf("pace %v, detail %v", s.Printer.Answers.Pace, s.Printer.Detail)
	}
	if s.SetAccessible("on"); s.Printer.Answers.View != nil {
		t.Error("answers are laid out for those who see")
	}
	s.Best, s.Mode = output.Mode{Cause: "TERM=dumb"}, output.Mode{Asked: true}
	if said, _ := s.SetAccessible("off"); !strings.Contains(said, "stays plain all the same (TERM=dumb)") {
		t.Errorf("%q", said)
	}
}

// Copies go to where the user is.
func TestCopy(t *testing.T) {
	desktop := func(context.Context, string) (string, error) { return "desktop", nil }
	none := func(context.Context, string) (string, error) { return "", os.ErrNotExist }
	for _, tt := range []struct {
		name    string
		desktop func(context.Context, string) (string, error)
		far     bool
		marks   bool
		text    string
		want    string // "desktop", "terminal" or ""
	}{
		{"here", desktop, false, true, "x", "desktop"},
		{"no desktop", none, false, true, "x", "terminal"},
		{"far", desktop, true, true, "x", "terminal"},
		{"far, plain", desktop, true, false, "x", "desktop"},
		{"nothing", none, false, false, "x", ""},
		{"too much", none, true, true, strings.Repeat("x", 60000), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, shown := console()
			s := &Screen{Console: c, Mode: output.Mode{Marks: tt.marks}, Lookup: func(name string) (string, bool) {
				return map[bool]string{true: "1"}[name == "SSH_TTY"], name == "SSH_TTY"
			}}
			if !tt.far {
				s.Lookup = func(string) (string, bool) { return "", false }
			}
			how, err := s.Copy(t.Context(), tt.text, none, tt.desktop)
			if (err == nil) != (tt.want != "") || !strings.Contains(how, tt.want) {
				t.Errorf("%q, %v", how, err)
			}
			if got := strings.Contains(shown.String(), "52;c;"); got != (tt.want == "terminal") {
				t.Errorf("shown: %q", shown.String())
			}
		})
	}
}
