package input

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/parallel"
	"gemline/tools/workspace"
)

// Stdin describes standard input before it is read.
type Stdin struct {
	Closed   bool        // its state is unknown
	Mode     fs.FileMode // its kind
	Terminal bool
	Force    bool // the user asks for it: --stdin or -
	Forbid   bool // the user forbids it: --no-stdin
	Prompt   bool // the command line has a prompt
}

// ShouldRead reports whether standard input is read. With a prompt, only an input with an end is
// read: a pipe, a socket or a file. An unreadable input is not read, unless the user asks for it;
// then the read returns the error.
func (s Stdin) ShouldRead() bool {
	switch {
	case s.Forbid || s.Closed || s.Mode.IsDir() && !s.Force:
		return false
	case s.Force:
		return true
	case s.Terminal:
		return false
	case s.Mode.IsRegular(), s.Mode&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return true
	}
	return !s.Prompt // a device: it may hold the prompt, or be /dev/null
}

// MaxStdin is the default limit of bytes from standard input.
const MaxStdin = 8 << 20

// patience is how long standard input may take before a notice.
const patience = 2 * time.Second

// ReadAll reads r to its end. It calls notify once if that takes long. More than limit bytes are an
// [*Error].
//
// When ctx is done, ReadAll returns its error at once. A running read can't be cancelled; it
// continues until r ends or is closed.
func ReadAll(ctx context.Context, r io.Reader, limit int64, notify func(string)) ([]byte, error) {
	var (
		b     []byte
		err   error
		crash parallel.Panic // repeated where the caller can recover
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer crash.Catch()
		b, err = io.ReadAll(io.LimitReader(r, limit+1))
	}()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-slow.C:
			say(notify, "waiting for standard input; use </dev/null or -n if there is none")
		case <-done:
			crash.Raise()
			switch {
			case err != nil:
				return nil, &Error{Message: "standard input: " + disk.Cause(err).Error(), Err: err}
			case int64(len(b)) > limit:
				return nil, &Error{Message: "standard input is larger than " + FormatSize(limit),
					Advice: "save it in a file and name that in the prompt, so that the model reads parts of it; or send less: head -c, grep"}
			}
			return b, nil
		}
	}
}

// FormatSize formats a number of bytes for people.
func FormatSize(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return fmt.Sprintf("%d bytes", n)
	case n%(unit*unit) == 0:
		return fmt.Sprintf("%d MiB", n/unit/unit)
	case n < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(n)/unit)
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/unit/unit)
	}
}

// Data is the content of standard input: text, or media.
type Data struct {
	Text     string
	Media    *genai.Part
	Bytes    int    // of the input
	Encoding string // of the text, by its WHATWG name
}

// Decode returns the content of standard input as text, or as media if it is an image, a PDF, audio
// or video. Anything else is an [*Error]. It converts a text that is not UTF-8, and reports that by
// notify.
func Decode(b []byte, charsets charset.Decoder, notify func(string)) (Data, error) {
	d := Data{Bytes: len(b)}
	if bytes.HasPrefix(b, []byte("%PDF-")) {
		d.Media = genai.NewPartFromBytes(b, "application/pdf")
		return d, nil
	}
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		d.Text, d.Encoding = string(bytes.TrimPrefix(b, []byte("\ufeff"))), "utf-8"
		return d, nil
	}
	if t := mediaType(b); t != "" {
		d.Media = genai.NewPartFromBytes(b, t)
		return d, nil
	}
	text, format, err := charsets.Decode(b)
	if err != nil {
		return d, &Error{Message: fmt.Sprintf("standard input is binary (%s%s) and of no type that can be sent; text, images, PDF, audio and video can be",
			FormatSize(int64(len(b))), archive(b)), Advice: "make text of it first, such as by " + unpack(b)}
	}
	switch {
	case format.Lossy || format.Raw:
		text = charset.Readable(text)
		say(notify, "standard input is not valid %s; what could not be read is marked", format.Charset)
	case format.Charset != "utf-8" && format.Charset != "":
		say(notify, "standard input was read as %s", format.Charset)
	}
	d.Text, d.Encoding = text, cmp.Or(format.Charset, "utf-8")
	return d, nil
}

// PromptText returns the prompt of a command line as UTF-8. A shell passes any bytes, such as those
// of a script in another encoding; notify reports a conversion.
func PromptText(prompt string, charsets charset.Decoder, notify func(string)) string {
	if utf8.ValidString(prompt) {
		return prompt
	}
	text, format, err := charsets.Decode([]byte(prompt))
	if err != nil || format.Lossy || format.Raw {
		say(notify, "the prompt is not UTF-8; what could not be read is marked")
		return strings.ToValidUTF8(prompt, "\ufffd")
	}
	say(notify, "the prompt is not UTF-8; it was read as %s", format.Charset)
	return text
}

// stdinTag is the name of the element that holds standard input.
const stdinTag = "stdin"

// DataBlock returns text that the model should read as data: between tags with its origin, its size
// in bytes and its encoding. Nothing in it ends the block early.
func DataBlock(text string, size int, encoding string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s bytes=\"%d\" encoding=%q>\n", stdinTag, size, encoding)
	last := 0
	for _, at := range stdinEnd().FindAllStringIndex(text, -1) {
		b.WriteString(text[last:at[0]])
		b.WriteString("&lt;")
		last = at[0] + 1
	}
	b.WriteString(text[last:])
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "</%s>", stdinTag)
	return b.String()
}

// stdinEnd matches text that a reader might take for the end of the block.
var stdinEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<[\s\pC]*/[\s\pC]*` + stdinTag)
})

// packed lists compressed formats: their first bytes, and the command that unpacks them.
var packed = []struct{ begins, name, by string }{
	{"\x1f\x8b", "gzip", "zcat"},
	{"BZh", "bzip2", "bzcat"},
	{"\xfd7zXZ\x00", "xz", "xzcat"},
	{"\x28\xb5\x2f\xfd", "zstd", "zstdcat"},
	{"PK\x03\x04", "zip", "unzip -p"},
}

// archive names the compressed format of b.
func archive(b []byte) string {
	for _, p := range packed {
		if bytes.HasPrefix(b, []byte(p.begins)) {
			return ", " + p.name
		}
	}
	return ""
}

// unpack names programs that convert b to text.
func unpack(b []byte) string {
	for _, p := range packed {
		if bytes.HasPrefix(b, []byte(p.begins)) {
			return p.by
		}
	}
	return "strings or xxd"
}

// mediaType returns the type of b by its first bytes, or "". Audio without a header is recognized
// elsewhere, by file name.
func mediaType(b []byte) string {
	return cmp.Or(workspace.Media("", b), workspace.Media(".mp3", b), workspace.Media(".aac", b))
}
