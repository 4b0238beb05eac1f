package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gemline/engine/redact"
)

const (
	maxLog   = 64 << 20 // bytes; a log that grows larger loses its beginning
	keptLog  = 1 << 20  // its size after a cut
	shownLog = 64 << 10 // how far back from its end a log is read
)

// A log is the file that holds what a background command has written.
type log struct {
	path  string
	info  fs.FileInfo // the created file, to recognize it
	file  *os.File
	size  int64
	lines int            // written line ends, including lost ones
	open  bool           // the last line has no end yet
	out   *redact.Stream // cleans the text, if not nil
	err   error
}

// createLog creates a log for process pid in dir, and a missing dir. An existing file is not
// ours and stays unchanged.
func createLog(dir string, pid int) (*log, error) {
	if err := ownDir(dir); err != nil {
		return nil, err
	}
	for i := range 100 {
		name := fmt.Sprintf("background-%d.log", pid)
		if i > 0 {
			name = fmt.Sprintf("background-%d-%d.log", pid, i)
		}
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		return &log{path: path, info: info, file: f}, nil
	}
	return nil, fmt.Errorf("%s: too many logs of process %d", dir, pid)
}

// ownDir creates a missing dir, and makes it accessible only to this user.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory of its own", dir)
	case info.Mode().Perm()&0o077 != 0:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// write adds p, and holds back a possible beginning of a secret.
func (l *log) write(p []byte) {
	if l.out != nil {
		p = []byte(l.out.Next(string(p)))
	}
	l.add(p)
}

// end adds the text that was held back.
func (l *log) end() {
	if l.out != nil {
		l.add([]byte(l.out.End()))
	}
}

// add adds p. After a failure nothing more is written.
func (l *log) add(p []byte) {
	if l.err != nil || len(p) == 0 {
		return
	}
	if l.size+int64(len(p)) > maxLog {
		if l.err = l.shorten(); l.err != nil {
			return
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	l.lines += bytes.Count(p[:n], []byte("\n"))
	if n > 0 {
		l.open = p[n-1] != '\n'
	}
	l.err = err
}

// shorten cuts the log to its end.
func (l *log) shorten() error {
	end := make([]byte, min(keptLog, l.size))
	if _, err := l.file.ReadAt(end, l.size-int64(len(end))); err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	n, err := l.file.Write(end)
	l.size = int64(n)
	return err
}

// total returns how many lines were written.
func (l *log) total() int {
	if l.open {
		return l.lines + 1
	}
	return l.lines
}

// tail returns the last lines of the file, within shownLog bytes of its end.
func (l *log) tail(lines int) (last []byte, shown int, err error) {
	info, err := os.Lstat(l.path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file any more", l.path)
	}
	f, err := os.Open(l.path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, 0, err
	}
	if !os.SameFile(info, l.info) {
		return nil, 0, fmt.Errorf("%s is another file by now", l.path)
	}
	from := max(0, info.Size()-shownLog)
	text, err := io.ReadAll(io.NewSectionReader(f, from, shownLog))
	if err != nil {
		return nil, 0, err
	}
	if from > 0 { // begin with a whole line if there is one
		if i := bytes.IndexByte(text, '\n'); i >= 0 && i+1 < len(text) {
			text = text[i+1:]
		}
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if info.Size() == 0 {
		return nil, 0, nil
	}
	for at := len(text); shown < max(lines, 1); {
		shown++
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text, shown, nil
		}
		last = text[at+1:]
	}
	return last, shown, nil
}
