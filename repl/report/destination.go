package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
)

// A Destination is a file that replaces standard output. If the run succeeds, the file gets the
// whole output; otherwise it is unchanged.
//
// Another kind of file, such as a pipe, is written directly.
type Destination struct {
	name   string // as the user gave it
	path   string // without links
	ledger *disk.Ledger
	stdout io.Writer
	atOnce bool         // the file is written directly
	text   bytes.Buffer // the output for another file
	direct *os.File     // opened by the first Write
	ended  bool
}

// A DestinationError is the error of a file that can't be written.
type DestinationError struct {
	Name     string
	Err      error
	OnStdout bool // the text for the file went to standard output
}

// Error returns one line.
func (e *DestinationError) Error() string {
	s := fmt.Sprintf("--output %s: %v", e.Name, e.Err)
	if e.OnStdout {
		s += "; its output is on standard output instead"
	}
	return s
}

// Unwrap returns the cause.
func (e *DestinationError) Unwrap() error { return e.Err }

// NewDestination checks that the named file can be written, and writes nothing. The ledger, which
// may be nil, records unfinished files. Stdout gets output that would be lost otherwise.
func NewDestination(name string, stdout io.Writer, ledger *disk.Ledger) (*Destination, error) {
	d := &Destination{name: name, stdout: stdout, ledger: ledger}
	if err := d.prepare(); err != nil {
		return nil, d.wrong(err)
	}
	return d, nil
}

func (d *Destination) prepare() (err error) {
	if d.path, err = follow(d.name); err != nil {
		return err
	}
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case ofProcess(d.path) || !info.Mode().IsRegular():
		d.atOnce = true
		return nil
	default: // a rename would replace a read-only file
		f, err := os.OpenFile(d.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		f.Close()
	}
	f, err := d.ledger.Create(d.path, info)
	if err == nil {
		f.Discard() // during the run, the model and git would see it
	}
	return err
}

// ofProcess reports whether path names an open file of a process.
func ofProcess(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") ||
		strings.HasPrefix(path, "/proc/")
}

// follow resolves the symbolic links of path. The file need not exist, but its directory must.
func follow(path string) (string, error) {
	const most = 40 // links; the limit of the system
	for range most {
		if ofProcess(path) {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			return filepath.Join(dir, filepath.Base(path)), err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("is a loop of symbolic links")
}

func (d *Destination) wrong(err error) error {
	return &DestinationError{Name: d.name, Err: disk.Cause(err)}
}

// Write keeps b for the file.
func (d *Destination) Write(b []byte) (int, error) {
	switch {
	case d.ended:
		return d.stdout.Write(b)
	case d.atOnce:
		return d.at(b)
	}
	return d.text.Write(b)
}

// at writes b directly. The first call opens the file; opening a pipe waits for a reader.
func (d *Destination) at(b []byte) (int, error) {
	if d.path == "/dev/stdout" || d.path == "/dev/fd/1" {
		return d.stdout.Write(b)
	}
	if d.direct == nil {
		f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return 0, d.wrong(err)
		}
		d.direct = f
	}
	n, err := d.direct.Write(b)
	if err != nil {
		err = d.wrong(err)
	}
	return n, err
}

// End writes the file. If the run failed, the output so far gets another name, and note names it.
// Only the first call has an effect. If the file can't be stored, its text goes to standard output.
func (d *Destination) End(failed bool) (note string, err error) {
	if d.ended {
		return "", nil
	}
	d.ended = true
	if d.direct != nil {
		err = d.direct.Close()
	}
	if d.atOnce || failed && d.text.Len() == 0 {
		return "", err
	}
	target := d.path
	if failed {
		target += ".partial"
	}
	if err = d.store(target); err == nil {
		if failed {
			note = fmt.Sprintf("%s is unchanged; the answer so far is in %s.partial", d.name, d.name)
		}
		return note, nil
	}
	if _, lost := d.stdout.Write(d.text.Bytes()); lost != nil {
		return "", d.wrong(errors.Join(err, lost))
	}
	err = d.wrong(err)
	err.(*DestinationError).OnStdout = true
	if failed {
		return err.Error(), nil // the run's own error matters more
	}
	return "", err
}

// store writes the output to the file at path.
func (d *Destination) store(path string) error {
	info, err := os.Stat(d.path)
	if err != nil {
		info = nil
	}
	f, err := d.ledger.Create(path, info)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(d.text.Bytes()); err != nil {
		return err
	}
	return f.Commit(path)
}
