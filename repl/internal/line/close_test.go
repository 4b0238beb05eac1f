package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/term"

	"gemline/repl/output"
)

// An ender types Ctrl-D when the prompt "end> " is shown.
type ender struct{ typed io.Writer }

func (e ender) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "end> ") {
		io.WriteString(e.typed, "\x04")
	}
	return len(p), nil
}

// Close returns at once, whatever was read before, and leaves no goroutine.
func TestClose(t *testing.T) {
	tests := []struct {
		name string
		use  func(t *testing.T, r *Reader, typed io.Writer)
	}{
		{"unused", func(*testing.T, *Reader, io.Writer) {}},
		{"a line", func(t *testing.T, r *Reader, typed io.Writer) {
			io.WriteString(typed, "a\r")
			if s, err := r.Read(t.Context(), "> "); s != "a" || err != nil {
				t.Error(s, err)
			}
		}},
		{"cancelled", func(t *testing.T, r *Reader, typed io.Writer) {
			cause := errors.New("enough")
			for range 3 {
				ctx, cancel := context.WithCancelCause(t.Context())
				go cancel(cause)
				if s, err := r.Read(ctx, "> "); err != cause {
					t.Error(s, err)
				}
			}
			io.WriteString(typed, "b\r")
			if s, err := r.Read(t.Context(), "> "); s != "b" || err != nil {
				t.Error(s, err)
			}
		}},
		{"end", func(t *testing.T, r *Reader, typed io.Writer) {
			if s, err := r.Read(t.Context(), "end> "); err != io.EOF {
				t.Error(s, err)
			}
		}},
	}
	for i, tt := range append(tests, tests...) {
		limited := i >= len(tests)
		t.Run(fmt.Sprint(tt.name, ", limited ", limited), func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			master, slave, err := pty.Open()
			if err != nil {
				t.Skip(err)
			}
			defer master.Close()
			defer slave.Close()
			r, err := New(Config{In: slave, Out: output.New(ender{master}, output.Options{}), Screen: slave, Mode: output.Mode{Smart: true, Limited: limited}})
			if err != nil {
				t.Fatal(err)
			}
			tt.use(t, r, master)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

// A terminal whose line editing somebody has switched off is read all the same.
func TestRawTerminal(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer slave.Close()
	if _, err := term.MakeRaw(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{In: slave, Out: output.New(io.Discard, output.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, tt := range []struct {
		keys, want string
		err        error
	}{{"abc\r", "abc", nil}, {"\x03", "", ErrInterrupt}, {"def\r", "def", nil}, {"\x04", "", io.EOF}} {
		io.WriteString(master, tt.keys)
		if got, err := r.Read(t.Context(), "> "); got != tt.want || err != tt.err {
			t.Errorf("%q: %q, %v", tt.keys, got, err)
		}
	}
}
