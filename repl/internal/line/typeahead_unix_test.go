//go:build unix

package line

import (
	"os"
	"testing"

	"github.com/creack/pty"
)

// onTerminal returns a source that reads from a terminal, and what types there.
func onTerminal(t *testing.T) (s *source, control *os.File) {
	t.Helper()
	control, tty, err := pty.Open()
	if err != nil {
		t.Skip("there is no terminal to be had:", err)
	}
	if s, err = newSource(tty); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close(); tty.Close(); control.Close() })
	return s, control
}

// Ctrl-D ends the input, too, where it comes while the terminal is asked for
// what was typed.
func TestEndTypedMeanwhile(t *testing.T) {
	s, control := onTerminal(t)
	var got []byte
	for s.modes.change(drainMode); len(got) < len("one\n\x04"); s.modes.change(drainMode) {
		if got == nil {
			control.WriteString("one\r\x04")
		}
		s.setQuiet(true)
		got = append(got, s.typeAhead()...)
	}
	if string(got) != "one\n\x00" {
		t.Errorf("%q", got)
	}
}
