package text

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// linesOf returns the lines of at most 20 bytes that are read from r, those that are too
// long with a "+", and the last error. Pieces of a line are of 16 bytes.
func linesOf(r io.Reader, end byte) (all []string, l *Lines, err error) {
	l = NewLines(nil, end, 20)
	l.r = bufio.NewReaderSize(r, 16)
	for {
		line, err := l.Next()
		switch {
		case err == ErrLong:
			all = append(all, string(line)+"+")
		case err == nil:
			all = append(all, string(line))
		default:
			if err != io.EOF {
				all = append(all, string(line))
			}
			return all, l, err
		}
	}
}

func TestLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	broken := errors.New("the disk is on fire")
	for _, c := range []struct {
		in   string
		err  error
		want []string
		torn bool
	}{
		{"", nil, nil, false},
		{"\n", nil, []string{""}, false},
		{"a\r\n\nb\n", nil, []string{"a\r", "", "b"}, false},
		{"a\nb", nil, []string{"a", "b"}, true},
		{x(15) + "\n" + x(16) + "\n" + x(20) + "\na", nil, []string{x(15), x(16), x(20), "a"}, true},
		{x(21) + "\na\n", nil, []string{x(16) + "+", "a"}, false},
		{x(99) + "\na\n", nil, []string{x(16) + "+", "a"}, false},
		{"a\n" + x(99), nil, []string{"a", x(16) + "+"}, true},
		{"a\nb", broken, []string{"a", "b"}, false},
		{"a\n" + x(99), broken, []string{"a", x(16)}, false},
		{"a\n", broken, []string{"a", ""}, false},
	} {
		r := io.Reader(strings.NewReader(c.in))
		want := io.EOF
		if c.err != nil {
			r, want = io.MultiReader(r, iotest.ErrReader(c.err)), c.err
		}
		got, l, err := linesOf(r, '\n')
		if !slices.Equal(got, c.want) || err != want || l.Torn != c.torn || l.At != int64(len(c.in)) {
			t.Errorf("%q: %q, %v, torn %v, at %d", c.in, got, err, l.Torn, l.At)
		}
	}
}

// However a text is cut, its lines are those that bytes.Split says.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nb\r\nc"), byte('\n'))
	f.Add([]byte("a\x00"+strings.Repeat("x", 20)+"\x00"+strings.Repeat("y", 40)), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, end byte) {
		got, l, err := linesOf(iotest.HalfReader(bytes.NewReader(b)), end)
		want := bytes.Split(b, []byte{end})
		if torn := len(want[len(want)-1]) > 0; !torn {
			want = want[:len(want)-1]
		} else if !l.Torn {
			t.Errorf("%q is not torn", b)
		}
		if len(got) != len(want) || err != io.EOF || l.At != int64(len(b)) {
			t.Fatalf("%q: %q, %v, at %d", b, got, err, l.At)
		}
		for i, w := range want {
			long := len(w) > 20
			begins := long && strings.HasSuffix(got[i], "+") &&
				bytes.HasPrefix(w, []byte(strings.TrimSuffix(got[i], "+")))
			if !begins && (long || got[i] != string(w)) {
				t.Errorf("line %d of %q is %q", i, b, got[i])
			}
		}
	})
}
