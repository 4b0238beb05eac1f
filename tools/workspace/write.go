package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gemline/tools/atomic"
)

// Write makes text, in the format f, the content of the file at path: the
// file that a symbolic link leads to, if it is one. Parents are made as
// needed, and the mode of an existing file is kept. The file changes at once
// or, when there is an error, not at all.
//
// Its errors are those of [Format.Encode] and of [io/fs], an [*OutsideError],
// [ErrDirectory], [ErrIrregular] or [ErrFull].
func (w *Workspace) Write(path, text string, f Format) error {
	b, err := f.Encode(text)
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	real, err := w.real(path)
	if err != nil {
		return err
	}
	if err := w.over.put(real, b); err != nil {
		return blame(err, path)
	}
	return nil
}

// writeFile makes b the content of the file on disk at real, which has no
// links left.
func writeFile(real string, b []byte) error {
	old, err := replaceable(real)
	if err != nil {
		return err
	}
	made, err := makeParents(filepath.Dir(real))
	if err == nil {
		err = replace(real, b, old)
	}
	if err != nil {
		for _, dir := range made {
			os.Remove(dir) // only if nobody put anything there
		}
	}
	return err
}

// blame makes err speak of path and name a full disk by [ErrFull].
func blame(err error, path string) error {
	why := err
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		why = pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		why = le.Err
	}
	if full(why) {
		why = fmt.Errorf("%w (%w)", ErrFull, why)
	}
	return &fs.PathError{Op: "write", Path: path, Err: why}
}

// replaceable returns what is at real, nil if nothing, or why it must stay.
func replaceable(real string) (fs.FileInfo, error) {
	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	// A rename would replace a file that we may not write to.
	f, err := os.OpenFile(real, os.O_WRONLY|careful, 0)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// makeParents makes dir and what it lies in, and returns what it made,
// innermost first.
func makeParents(dir string) (made []string, err error) {
	var todo []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || !missing(err) || d == filepath.Dir(d) {
			break
		}
		todo = append(todo, d)
	}
	for i := len(todo) - 1; i >= 0; i-- {
		if err := os.Mkdir(todo[i], 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		made = append([]string{todo[i]}, made...)
	}
	return made, nil
}

// replace puts a file with the content b at real, where old was.
func replace(real string, b []byte, old fs.FileInfo) error {
	f, err := atomic.Create(real, old)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Commit(real)
}
