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

// A Source is the origin of a batch.
type Source struct {
	io.Reader

	// Name identifies the batch within the project. It is empty for input that can be read only
	// once, such as a pipe.
	Name string
}

// Open returns the batch in the file path, or on stdin if path is a hyphen. The error is an
// [*input.Error].
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

// is reports whether path is the batch's own file.
func (s Source) is(path string) bool {
	if s.Name == "" {
		return false
	}
	a, err := os.Stat(s.Name)
	b, berr := os.Stat(path)
	return err == nil && berr == nil && os.SameFile(a, b)
}

// later opens a file at the first read: opening a named pipe blocks until a writer opens it.
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

// NoteWriter returns a function that writes each notice as a line behind prefix, or nothing if
// quiet. It is safe for concurrent use.
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
				"\r\n"))+"\n") // a write error has no remedy
		}
	}
}

// Key returns a text that identifies the values.
func Key(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:16])
}

// ReportEnding returns a Reporter that reports the end of an interrupted batch by r. A complete
// batch has reported everything in the records of its items.
func ReportEnding(r report.Reporter) report.Reporter { return last{r} }

type last struct{ report.Reporter }

// Finish implements [report.Reporter].
func (l last) Finish(o report.Outcome) error {
	if o.Err == nil || errors.Is(o.Err, ErrFailed) {
		return nil
	}
	return l.Reporter.Finish(o)
}
