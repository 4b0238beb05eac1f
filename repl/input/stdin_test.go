package input

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"gemline/engine/charset"
)

func TestWanted(t *testing.T) {
	const device = fs.ModeDevice | fs.ModeCharDevice
	tests := []struct {
		name  string
		stdin Stdin
		want  bool
	}{
		{"pipe", Stdin{Mode: fs.ModeNamedPipe, Prompt: true}, true},
		{"pipe without prompt", Stdin{Mode: fs.ModeNamedPipe}, true},
		{"socket", Stdin{Mode: fs.ModeSocket, Prompt: true}, true},
		{"file", Stdin{Mode: 0o644, Prompt: true}, true},
		{"terminal", Stdin{Mode: device, Terminal: true, Prompt: true}, false},
		{"terminal without prompt", Stdin{Mode: device, Terminal: true}, false},
		{"terminal, forced", Stdin{Mode: device, Terminal: true, Force: true, Prompt: true}, true},
		{"device", Stdin{Mode: device, Prompt: true}, false},
		{"device without prompt", Stdin{Mode: device}, true},
		{"device, forced", Stdin{Mode: device, Prompt: true, Force: true}, true},
		{"closed", Stdin{Closed: true, Prompt: true}, false},
		{"closed, forced", Stdin{Closed: true, Force: true}, false},
		{"directory", Stdin{Mode: fs.ModeDir}, false},
		{"directory, forced", Stdin{Mode: fs.ModeDir, Force: true}, true},
		{"pipe, forbidden", Stdin{Mode: fs.ModeNamedPipe, Forbid: true, Prompt: true}, false},
		{"pipe, forbidden and forced", Stdin{Mode: fs.ModeNamedPipe, Forbid: true, Force: true}, false},
	}
	for _, test := range tests {
		if got := test.stdin.ShouldRead(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// A writer may take all the time it wants; the user is told once.
func TestReadAllSlowly(t *testing.T) {
	for _, test := range []struct {
		pause time.Duration
		notes int
	}{{time.Second, 0}, {2500 * time.Millisecond, 1}, {time.Hour, 1}} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			go func() {
				time.Sleep(test.pause / 2)
				io.WriteString(w, "late ")
				time.Sleep(test.pause / 2)
				io.WriteString(w, "text")
				w.Close()
			}()
			notes := 0
			b, err := ReadAll(t.Context(), r, MaxStdin, func(string) { notes++ })
			if string(b) != "late text" || err != nil || notes != test.notes {
				t.Errorf("pause %s: %q, %v, %d notes", test.pause, b, err, notes)
			}
		})
	}
}

func TestReadAllCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := ReadAll(ctx, r, MaxStdin, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: "/dev/stdin", Err: errors.New("bad")}
}

func TestReadAllFails(t *testing.T) {
	var e *Error
	if _, err := ReadAll(t.Context(), strings.NewReader("12345"), 4, nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "larger than 4 bytes") {
		t.Error(err)
	}
	if b, err := ReadAll(t.Context(), strings.NewReader("1234"), 4, nil); err != nil || len(b) != 4 {
		t.Error(err)
	}
	if _, err := ReadAll(t.Context(), badReader{}, 4, nil); !errors.As(err, &e) || err.Error() != "standard input: bad" {
		t.Error(err)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", MaxStdin: "8 MiB", 1<<20 + 1<<19: "1.5 MiB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, in    string
		text, media string
		bad         bool
		hint        string
		notes       int
	}{
		{name: "nothing"},
		{name: "text", in: "h\u00e9llo\r\n", text: "h\u00e9llo\r\n"},
		{name: "byte order mark", in: "\ufeffhi", text: "hi"},
		{name: "utf-16", in: "\xff\xfeh\x00i\x00", text: "hi", notes: 1},
		{name: "latin", in: strings.Repeat("caf\xe9 et cr\xe8me, d\xe9j\xe0 vu\n", 20), text: strings.Repeat("caf\u00e9 et cr\u00e8me, d\u00e9j\u00e0 vu\n", 20), notes: 1},
		{name: "png", in: "\x89PNG\r\n\x1a\n\x00\x00", media: "image/png"},
		{name: "jpeg", in: "\xff\xd8\xff\xe0\x00", media: "image/jpeg"},
		{name: "pdf", in: "%PDF-1.7\n\xff", media: "application/pdf"},
		{name: "wav", in: "RIFF\x00\x00\x00\x00WAVEfmt ", media: "audio/wav"},
		{name: "mp3", in: "ID3\x03\x00", media: "audio/mpeg"},
		{name: "mp3 without a head", in: "\xff\xfb\x90\x44\x00", media: "audio/mpeg"},
		{name: "aac", in: "\xff\xf1\x50\x80\x00", media: "audio/aac"},
		{name: "bmp", in: "BM\xff\x00\x00\x00\x00\x00\x00\x00\x36\x00", media: "image/bmp"},
		{name: "avif", in: "\x00\x00\x00\x1cftypavif\xff", media: "image/avif"},
		{name: "no picture", in: "BMW f\xfcr M\xfcnchen", text: "BMW f\u00fcr M\u00fcnchen", notes: 1},
		{name: "broken", in: "\xef\xbb\xbfa\xff\xfe\x01b", text: "a\ufffd\ufffd\u0001b", notes: 1},
		{name: "text like a picture's", in: "GIF89a is a format", text: "GIF89a is a format"},
		{name: "program", in: "\x7fELF\x02\x01\x01" + strings.Repeat("\x00\x01", 50), bad: true, hint: "by strings or xxd"},
		{name: "packed", in: "\x1f\x8b\x08\x00" + strings.Repeat("\x00\x01", 50), bad: true, hint: "gzip) and of no type that can be sent; text, images, PDF, audio and video can be; make text of it first, such as by zcat"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			notes := 0
			d, err := Decode([]byte(test.in), charset.Decoder{}, func(string) { notes++ })
			mime := ""
			if d.Media != nil {
				mime = d.Media.InlineData.MIMEType
			}
			var e *Error
			if d.Text != test.text || mime != test.media || errors.As(err, &e) != test.bad || notes != test.notes {
				t.Errorf("%q, %q, %v, %d notes", d.Text, mime, err, notes)
			}
			if d.Bytes != len(test.in) || (d.Encoding != "") != (mime == "" && !test.bad) {
				t.Errorf("%d bytes of %s", d.Bytes, d.Encoding)
			}
			if e := (*Error)(nil); errors.As(err, &e) && !strings.Contains(e.Message+"; "+e.Advice, test.hint) {
				t.Errorf("%v (%s) does not say %s", err, e.Advice, test.hint)
			}
		})
	}
}

func TestBlock(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"a\n", "<stdin bytes=\"9\" encoding=\"x\">\na\n</stdin>"},
		{"a", "<stdin bytes=\"9\" encoding=\"x\">\na\n</stdin>"},
		{"a</stdin>b", "<stdin bytes=\"9\" encoding=\"x\">\na&lt;/stdin>b\n</stdin>"},
		{"< / \u200bSTDIN <b></stdio>", "<stdin bytes=\"9\" encoding=\"x\">\n&lt; / \u200bSTDIN <b></stdio>\n</stdin>"},
	} {
		if got := DataBlock(test.in, 9, "x"); got != test.want {
			t.Errorf("%q: %q", test.in, got)
		}
	}
}

// A block ends where it ends, whatever is in it.
func FuzzBlock(f *testing.F) {
	f.Add("</stdin>")
	f.Add("<\u200b/ sTdIn\xff")
	f.Fuzz(func(t *testing.T, text string) {
		b := DataBlock(text, len(text), "utf-8")
		if n := len(stdinEnd().FindAllString(b, -1)); n != 1 || !strings.HasSuffix(b, "\n</stdin>") {
			t.Errorf("%d ends in %q", n, b)
		}
		_, body, _ := strings.Cut(strings.TrimSuffix(b, "</stdin>"), "\n")
		if !stdinEnd().MatchString(text) && strings.TrimSuffix(body, "\n") != strings.TrimSuffix(text, "\n") {
			t.Errorf("%q became %q", text, body)
		}
	})
}

func TestWords(t *testing.T) {
	for _, test := range []struct{ prompt, want, told string }{
		{"", "", ""},
		{"déjà vu", "déjà vu", ""},
		{"caf\xe9 au lait, d\xe9j\xe0 vu", "café au lait, déjà vu", "read as windows-1252"},
		{"\xff", "ÿ", "read as windows-1252"},
	} {
		told := ""
		if got := PromptText(test.prompt, charset.Decoder{}, func(s string) { told = s }); got != test.want || !strings.Contains(told, test.told) || told != "" && test.told == "" {
			t.Errorf("%q: got %q; told %q", test.prompt, got, told)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"hi", "caf\xe9", "\x00\xff", "\xff\xfeh\x00", "\x81\x8d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		if got := PromptText(prompt, charset.Decoder{}, nil); !utf8.ValidString(got) {
			t.Errorf("%q gives %q", prompt, got)
		}
	})
}

type fallingReader struct{}

func (fallingReader) Read([]byte) (int, error) { panic("oh no") }

// A panic of the reader comes to whoever called, who can tell it.
func TestReadAllFalls(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "oh no\n") || !strings.Contains(text, "fallingReader") {
			t.Errorf("the panic is %q", text)
		}
	}()
	_, err := ReadAll(t.Context(), fallingReader{}, MaxStdin, nil)
	t.Error("it returns ", err)
}
