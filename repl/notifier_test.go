//go:build unix

package repl

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestNotifyOnTheTerminal(t *testing.T) {
	nothing := func(string) (string, bool) { return "", false }
	for _, tt := range []struct {
		name string
		n    *Notifier
		want string
	}{
		{"off", &Notifier{Smart: true}, ""},
		{"auto", &Notifier{Method: "auto", Smart: true}, "\a"},
		{"osc9", &Notifier{Method: "osc9", Smart: true}, "\x1b]9;gemline: 2 tools\a"},
		{"plain mode", &Notifier{Method: "osc9"}, ""},
		{"plain mode, auto", &Notifier{Method: "auto"}, ""},
		{"plain mode, chosen by name", &Notifier{Method: "bell"}, "\a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			tt.n.Terminal, tt.n.Lookup = &b, nothing
			tt.n.Notify(Alert{Event: "done", Text: "2 tools"})
			if b.String() != tt.want {
				t.Errorf("%q, want %q", b.String(), tt.want)
			}
		})
	}
}

// A program takes the place of the terminal's own ways, and gets one object.
func TestNotifyByProgram(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	n := Notifier{Method: "bell", Command: []string{"sh", "-c", "cat >" + pipe}, Environ: os.Environ(), Terminal: &b, Smart: true}
	n.Notify(Alert{Event: "permission", Text: "run: rm \"a\"\x1b[2J\n", Dir: "/p", ID: "1"})
	got, err := os.ReadFile(pipe) // waits for the program
	want := `{"event":"permission","text":"run: rm \"a\"\\x1b[2J\\x0a","directory":"/p","session_id":"1"}` + "\n"
	if string(got) != want || err != nil || b.Len() > 0 {
		t.Errorf("%q, %v, and %q on the terminal; want %q", got, err, b.String(), want)
	}
}

// A program that can't be run is told of once.
func TestNotifyFailure(t *testing.T) {
	told := make(chan string, 100)
	n := Notifier{Command: []string{"sh", "-c", "exit 3"}, Environ: os.Environ(), Warn: func(text string) { told <- text }}
	n.Notify(Alert{})
	for len(told) == 0 { // until the program has ended
		runtime.Gosched()
		n.warnOnce()
	}
	n.Notify(Alert{})
	if text := <-told; !strings.Contains(text, "exit status 3") || len(told) > 0 {
		t.Errorf("%q and %d more", text, len(told))
	}
}
