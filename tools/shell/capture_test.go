//go:build unix

package shell

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gemline/engine/charset"
)

func TestBinaryOutput(t *testing.T) {
	for _, test := range []struct {
		name   string
		data   string
		binary bool
	}{
		{"program", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x03\x00\x3e\x00\xc0\x11\x80", true},
		{"image", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06", true},
		{"zeros", strings.Repeat("\x00", 50), true},
		{"names separated by NUL", "a.go\x00b.go\x00caf\u00e9.go\x00", false},
		{"Latin-1", "caf\xe9 cr\xe8me\n", false},
		{"an odd byte before text", "\x01" + strings.Repeat("text\n", 10), false},
		{"noise", string(noise()), true},
		{"colours", "\x1b[31ma\x1b[0m\n", false},
		{"a bell", "\a\a\a", false},
		{"cut in a letter", "aaaa\xe6\x97", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "data")
			if err := os.WriteFile(file, []byte(test.data), 0o600); err != nil {
				t.Fatal(err)
			}
			o := run(t, "cat "+file)
			if o.Binary != test.binary {
				t.Errorf("binary is %v", o.Binary)
			}
			if test.binary && o.Output != fmt.Sprintf("[Binary output of %d bytes, not shown]", len(test.data)) {
				t.Errorf("got %q", o.Output)
			}
		})
	}
}

// noise returns what compressed data looks like.
func noise() []byte {
	b := make([]byte, 8192)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// FuzzCapture checks that what is shown as it comes is what is kept, wherever
// it was cut.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("x 1\rx 2\r\ny\r"), uint8(4), uint8(4))
	f.Add([]byte("a\xc3\xa9\x1b[31mb\xff\n\xe6\x97\xa5"), uint8(2), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, i, j uint8) {
		a := min(int(i), len(in))
		b := min(a+int(j), len(in))
		for _, terminal := range []bool{false, true} {
			var live strings.Builder
			c := newCapture(1<<20, terminal, charset.Decoder{}, func(s string) { live.WriteString(s) })
			for _, p := range [][]byte{in[:a], in[a:b], in[b:]} {
				c.write(p)
			}
			c.end()
			want := []byte(strip(string(in)))
			if terminal {
				var r redraw
				want = r.flush(r.append(nil, want))
			}
			if !utf8.ValidString(live.String()) {
				t.Errorf("shown %q", live.String())
			}
			if utf8.Valid(want) && !c.binary && (live.String() != c.kept.text() || live.String() != string(want)) {
				t.Errorf("shown %q; kept %q; want %q", live.String(), c.kept.text(), want)
			}
		}
	})
}

func TestRedraw(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "a\nb\n", "a\nb\n"},
		{"line ends", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"progress", "x:  1%\rx:  2%\rx: 99%\rx: 100%, done.\nb", "x:  1%\nx: 100%, done.\nb"},
		{"two bars", "x 1\rx 2\ny 1\ry 2\ry 3\n", "x 1\nx 2\ny 1\ny 3\n"},
		{"wiped", "x 1\rx 2\r    \rdone\n", "x 1\ndone\n"},
		{"wiped at the end", "x 1\rx 2\r    \n", "x 1\n"},
		{"open at the end", "x 1\rx 2", "x 1\nx 2"},
		{"begins with a return", "\rx 1\rx 2\n", "x 1\nx 2\n"},
		{"ends with a return", "x 1\rx 2\r\n", "x 1\nx 2\r\n"},
		{"returns only", "\r\r\r\n", "\r\n"},
		{"return at the end", "a\r", "a"},
		{"no progress", "a\r" + strings.Repeat("x", 100_000) + "\n", "a\n" + strings.Repeat("x", 100_000) + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var whole, bytewise redraw
			got := whole.flush(whole.append(nil, []byte(test.in)))
			if string(got) != test.want {
				t.Errorf("got %.100q; want %.100q", got, test.want)
			}
			got = nil
			for i := range len(test.in) {
				got = bytewise.append(got, []byte(test.in[i:i+1]))
			}
			if got = bytewise.flush(got); string(got) != test.want {
				t.Errorf("byte by byte: got %.100q; want %.100q", got, test.want)
			}
		})
	}
}

func TestTail(t *testing.T) {
	for _, pieces := range [][]string{{"abc"}, {"abcdefgh"}, {"abc", "defgh", "i"}, {"a", "bcdefghijklmnopqrst", "u"}, {"12345678", "9"}, {"ab\u00e9\u00e9\u00e9", "x"}, {"\u00e9\u00e9\u00e9\u00e9", "x"}, {"123456", "\u65e5", "abcdef"}} {
		all := strings.Join(pieces, "")
		kept := tail{max: 8}
		for _, p := range pieces {
			kept.write([]byte(p))
		}
		want := all[max(0, len(all)-8):]
		for len(all) > 8 && want[0]&0xc0 == 0x80 {
			want = want[1:]
		}
		if got := kept.text(); got != want || kept.cut != (len(all) > 8) {
			t.Errorf("%q: got %q, cut %v; want %q", pieces, got, kept.cut, want)
		}
	}
}

// What a command prints in another encoding is read as files are.
func TestCaptureDecodes(t *testing.T) {
	for in, want := range map[string]string{
		"caf\u00e9\n": "caf\u00e9", "\x93\xfa\x96\x7b\n": "\u65e5\u672c", "Gr\u00f6\u00dfe Andr\xe9\n": "Gr\u00f6\u00dfe Andr\ufffd", "\u65e5\u672c \xe6\x97": "\u65e5\u672c \ufffd\ufffd",
		"\x83\x5c\x81\x5b\x83\x58 1\n": "\u30bd\u30fc\u30b9 1", strings.Repeat("ok\n", 3) + "\x93\xfa \x96\x7b": "ok\nok\nok\n\u65e5 \u672c",
	} {
		var live strings.Builder
		c := newCapture(1<<20, false, charset.New("", "ja_JP.UTF-8"), func(s string) { live.WriteString(s) })
		for i := range len(in) {
			c.write([]byte(in[i : i+1]))
		}
		c.end()
		if got := c.text(); got != want {
			t.Errorf("%q: got %q; want %q", in, got, want)
		}
		if got := trim(live.String()); got != want {
			t.Errorf("%q: shown %q; want %q", in, got, want)
		}
	}
}
