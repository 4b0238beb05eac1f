package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gemline/engine/disk"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/report"
)

// A Source is where a batch comes from.
type Source struct {
	io.Reader

	// Name tells the batch from others of the same project. It is empty for
	// an input that is read once, such as a pipe.
	Name string
}

// Open returns the batch that is in the file path, or on stdin if that is a
// hyphen. The error is an [*input.Error].
func Open(path string, stdin io.Reader) (Source, error) {
	if path == "-" {
		return Source{Reader: stdin}, nil
	}
	bad := func(err error) (Source, error) {
		return Source{}, &input.Error{Message: fmt.Sprintf("--batch %s: %v", path, disk.Cause(err)), Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return bad(err)
	case info.IsDir():
		return Source{}, &input.Error{Message: "--batch " + path + ": it is a directory"}
	case !info.Mode().IsRegular():
		return Source{Reader: &later{path: path}}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return bad(err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return bad(err)
	}
	return Source{Reader: f, Name: path}, nil
}

// is reports whether path is the file that the batch is read from.
func (s Source) is(path string) bool {
	if s.Name == "" {
		return false
	}
	a, err := os.Stat(s.Name)
	b, berr := os.Stat(path)
	return err == nil && berr == nil && os.SameFile(a, b)
}

// later opens a file when it is first read: a pipe has that wait for somebody
// to write to it.
type later struct {
	path string
	file *os.File
}

// Read implements [io.Reader].
func (l *later) Read(b []byte) (n int, err error) {
	if l.file == nil {
		if l.file, err = os.Open(l.path); err != nil {
			return 0, err
		}
	}
	return l.file.Read(b)
}

// NoteWriter returns a function that writes notices beside the
// answers, each text a line with prefix in front, or nothing if quiet. It may
// be called by several goroutines at once.
func NoteWriter(w io.Writer, prefix string, quiet bool) func(string) {
	var mu sync.Mutex
	return func(text string) {
		if quiet {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for l := range strings.Lines(text) {
			io.WriteString(w, prefix+output.Visible(strings.TrimRight(l,
				"\r\n"))+"\n") // nothing can be done about a lost line
		}
	}
}

// Key returns a text that is the same for the same values.
func Key(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:16])
}

// ReportEnding returns a Reporter that reports by r how a batch ended, if that was
// before its time. A batch that came to its end has said everything in the
// records of its items.
func ReportEnding(r report.Reporter) report.Reporter { return last{r} }

type last struct{ report.Reporter }

// Finish implements [report.Reporter].
func (l last) Finish(o report.Outcome) error {
	if o.Err == nil || errors.Is(o.Err, ErrFailed) {
		return nil
	}
	return l.Reporter.Finish(o)
}
