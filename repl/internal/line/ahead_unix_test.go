//go:build unix

package line

import (
	"testing"

	"github.com/creack/pty"
)

// Ctrl-D ends the input, too, where it comes while the terminal is asked for
// what was typed.
func TestEndTypedMeanwhile(t *testing.T) {
	control, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer control.Close()
	defer tty.Close()
	s, err := newSource(tty)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var got []byte
	for s.modes.change(emptied); len(got) < len("one\n\x04"); s.modes.change(emptied) {
		if got == nil {
			control.WriteString("one\r\x04")
		}
		s.setQuiet(true)
		got = append(got, s.ahead()...)
	}
	if string(got) != "one\n\x00" {
		t.Errorf("%q", got)
	}
}
