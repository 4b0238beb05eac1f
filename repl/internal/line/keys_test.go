package line

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzKeys(f *testing.F) {
	f.Add([]byte("abc\x1b[200~x\ry\x1b[201~\r\x1b]0;t\x07"), uint8(3), false)
	f.Add([]byte("\x1b\x1b[A\x18\x05\x1bOH\x1bdw"), uint8(0), true)
	f.Fuzz(func(t *testing.T, in []byte, size uint8, vi bool) {
		k := &decoder{vi: vi, pasted: func(s string) string {
			return "<" + strings.Map(func(r rune) rune {
				if r == '\n' || r == '\t' {
					return ' '
				}
				return r
			}, s) + ">"
		}}
		for rest := in; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			k.take(rest[:n])
			if len(k.rest) > 2*4096 {
				t.Fatalf("%d bytes wait for their end", len(k.rest))
			}
			rest = rest[n:]
		}
		if bytes.ContainsFunc(k.queue, func(r rune) bool { return r < ' ' && r != '\r' && r != '\n' && r != 3 || r == 0x7f }) {
			t.Fatalf("%q lets %q through", in, k.queue)
		}
	})
}

// Whatever the terminal has begun to send and not ended, Ctrl-C gets through.
func TestCtrlCBehindHalfASequence(t *testing.T) {
	for _, before := range []string{"", "abc", "\x1b", "\x1b\x1b", "\x1bO", "\x1b[", "\x1b[1;5", "\x1b]0;title", "\x1bPreport", "\x1b_x", "\x18",
		"\xe2\x82", "\x1b[200~", "\x1b[200~a paste\nof two lines", "\x1b[200~x\x1b[201", "a\rb"} {
		for _, vi := range []bool{false, true} {
			k := &decoder{vi: vi, pasted: func(s string) string { return s }}
			k.take([]byte(before))
			k.take([]byte("\x03"))
			if !bytes.HasSuffix(k.queue, []byte("\x03")) || k.pasting {
				t.Errorf("behind %q, with vi's keys %v: %q", before, vi, k.queue)
			}
		}
	}
}

// Whatever is completed, the line keeps what is behind the cursor.
func FuzzTab(f *testing.F) {
	f.Add("see al", 6, 4, "alpha", "alphabet")
	f.Fuzz(func(t *testing.T, text string, pos, from int, one, other string) {
		line := []rune(strings.ToValidUTF8(text, ""))
		if pos < 0 || pos > len(line) {
			return
		}
		start, insert, list := completion(line, pos, func(l string, at int) (int, []Candidate) {
			if at > len(l) || !utf8.ValidString(l[at:]) {
				t.Fatalf("cursor at %d of %q", at, l)
			}
			if from > at || from < 0 || !utf8.RuneStart((l + "x")[from]) {
				return at, nil
			}
			return from, []Candidate{{Text: one}, {Text: other}}
		})
		if start < 0 || start > pos || len(insert) > 0 && len(list) > 0 {
			t.Fatalf("%d, %q, %q", start, string(insert), list)
		}
	})
}

// A name that a line can't hold is not completed.
func TestTabNamesOnlyFilesThatAreThere(t *testing.T) {
	line := []rune("@tab")
	_, insert, list := completion(line, len(line), func(string, int) (int, []Candidate) {
		return 0, []Candidate{{Text: "@tab\tx.txt"}}
	})
	if len(insert) > 0 || len(list) > 0 {
		t.Errorf("%q, %q", string(insert), list)
	}
}
