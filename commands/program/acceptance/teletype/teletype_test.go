package teletype

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func program(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

func TestSession(t *testing.T) {
	s := Start(t, Command{Path: program(t, "cat")})
	s.Line("hello")
	s.Expect("hello\r\nhello\r\n")
	s.Send("\x04")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if faults := Lint(s.Transcript(), Rules{Quiet: true}); len(faults) > 0 {
		t.Errorf("cat: %v", faults)
	}
}

func TestSizeAndTerm(t *testing.T) {
	s := Start(t, Command{Path: program(t, "sh"), Args: []string{"-c", "stty size; echo term $TERM; exit 3"}, Rows: 10, Cols: 40, Term: "xterm"})
	s.Expect("10 40")
	s.Expect("term xterm")
	if code := s.Exit(); code != 3 {
		t.Errorf("exit %d", code)
	}
}

func TestSignal(t *testing.T) {
	s := Start(t, Command{Path: program(t, "sh"), Args: []string{"-c", "trap 'echo got it; exit 7' TERM; echo ready; while :; do read x; done"}})
	s.Expect("ready")
	s.Signal(syscall.SIGTERM)
	s.Line("")
	s.Expect("got it")
	if code := s.Exit(); code != 7 {
		t.Errorf("exit %d", code)
	}
}

func TestLint(t *testing.T) {
	tests := []struct {
		name, text string
		rules      Rules
		want       string // part of the one fault, "" for none
	}{
		{"text", "a\tb\r\nc\n", Rules{Quiet: true}, ""},
		{"escape", "a\x1b[1m", Rules{}, "control U+001B"},
		{"escape in smart mode", "\x1b[1m\r\x1b[K", Rules{Smart: true}, ""},
		{"carriage return", "ab\rc", Rules{}, "control U+000D"},
		{"rubout", "ab\b \b", Rules{}, ""},
		{"backspace", "ab\bc", Rules{}, "control U+0008"},
		{"bell", "\a", Rules{Smart: true}, "control U+0007"},
		{"C1", "\u009b1m", Rules{Smart: true}, "control U+009B"},
		{"invalid", "\xff", Rules{}, "no UTF-8"},
		{"box", "\u2502 a", Rules{Quiet: true}, "decoration U+2502"},
		{"box of the model", "\u2502 a", Rules{}, ""},
		{"braille", "\u2801", Rules{Quiet: true}, "decoration"},
		{"emoji", "\U0001f600", Rules{Quiet: true}, "decoration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(Lint([]byte(tt.text), tt.rules), "; ")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := Overprinted([]byte("tool: a\r\nabc tool: b\r\n"), "tool"); len(got) != 1 {
		t.Errorf("Overprinted: %v", got)
	}
}

func TestMeasure(t *testing.T) {
	b := Measure(t, Command{Path: program(t, "sh"), Args: []string{"-c", `printf 'hi> '; read x; printf 'a\033[K\033[1A\rb \342\224\200 done: '; printf '> '; read x`}},
		Errand{Ready: "> ", Typed: "abc", Done: "done:"})
	if string(b.Start) != "hi> " || len(b.Idle) > 0 || string(b.Typing) != "abc" || string(b.Turn) != "\r\na\x1b[K\x1b[1A\rb \u2500 done: > " {
		t.Errorf("%q", b)
	}
	if got, want := CostOf(b.Turn), (Cost{Bytes: len(b.Turn), Escapes: 2, Erasures: 1, Ups: 1, Returns: 1, Boxes: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTmux(t *testing.T) {
	m := StartTmux(t, Command{Path: program(t, "cat"), Rows: 5, Cols: 20})
	m.Send("hello")
	m.Expect("hello")
	if row, col := m.Cursor(); row != 0 || col != 5 {
		t.Errorf("cursor at %d, %d", row, col)
	}
	m.Key("Enter")
	m.Expect("hello\nhello")
}

func TestHangUp(t *testing.T) {
	s := Start(t, Command{Path: program(t, "cat")})
	s.Line("a")
	s.Expect("a\r\na")
	s.HangUp()
	s.Exit()
}

func TestResize(t *testing.T) {
	s := Start(t, Command{Path: program(t, "sh"), Args: []string{"-c", "read x; stty size"}})
	s.Resize(7, 33)
	s.Line("")
	s.Expect("7 33")
}
