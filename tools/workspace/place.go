package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"gemline/engine/disk"
)

// A ResolvedPath is the target of a path in a Workspace: a name without links below one of
// its directories. Operations apply to that name only. If a part of it has become a link
// meanwhile, the link is not followed, and the error is [ErrMoved].
type ResolvedPath struct {
	w        *Workspace
	dir      *disk.Dir // nil for a temporary directory that does not exist yet
	rel      string    // in dir
	real     string    // the absolute path
	name     string    // the requested path, for errors
	readOnly bool      // not writable
}

// patience is how often the lookup of a moving path is repeated.
const patience = 50

// Locate returns the target of path, which is absolute. Its errors are those of
// [Workspace.Resolve].
func (w *Workspace) Locate(path string) (ResolvedPath, error) {
	for range patience {
		p, err := w.locate(path)
		if !errors.Is(err, disk.ErrLink) {
			return p, err
		}
		runtime.Gosched()
	}
	return ResolvedPath{}, &fs.PathError{Op: "open", Path: path, Err: ErrMoved}
}

// at calls do with the target of path. If do fails because a link has appeared, at resolves
// path again and repeats do, patience times in all.
func (w *Workspace) at(path string, do func(ResolvedPath) error) error {
	for range patience {
		p, err := w.Locate(path)
		if err != nil {
			return err
		}
		if err = do(p); !errors.Is(err, disk.ErrLink) {
			return p.blame(err)
		}
		runtime.Gosched()
	}
	return &fs.PathError{Op: "open", Path: path, Err: ErrMoved}
}

// Writable returns an [*OutsideError] if the file there is read-only.
func (p ResolvedPath) Writable() error {
	if p.readOnly {
		return &OutsideError{Path: p.name, Roots: p.w.Roots(), Temp: p.w.dirs.temp}
	}
	return nil
}

// Path returns the absolute path.
func (p ResolvedPath) Path() string { return p.real }

// below returns a path below p, which is a directory.
func (p ResolvedPath) below(rel string) ResolvedPath {
	q := p
	q.rel, q.real = filepath.Join(p.rel, rel), filepath.Join(p.real, rel)
	if p.name == p.real {
		q.name = q.real
	} else {
		q.name = filepath.Join(p.name, rel)
	}
	return q
}

// ReadText reads the text file there. Its errors are those of
// [Workspace.ReadBytes] and [ErrBinary].
func (p ResolvedPath) ReadText() (*File, error) {
	b, info, err := p.read(MaxFile)
	if err != nil {
		return nil, p.blame(err)
	}
	return p.w.decoded(p.name, b, info)
}

// Write makes text, in the format f, the content of the file there. Missing parents are
// created, and the mode of an existing file is preserved. The file changes at once or, on an
// error, not at all.
//
// Its errors are those of [Format.Encode] and of [io/fs], an [*OutsideError],
// [ErrDirectory], [ErrIrregular], [disk.ErrFull] or [ErrMoved].
func (p ResolvedPath) Write(text string, f Format) error {
	b, err := f.Encode(text)
	if err != nil {
		return &fs.PathError{Op: "write", Path: p.name, Err: err}
	}
	return writing(p.blame(p.put(b)), p.name)
}

// blame makes err, if not nil, name the requested path.
func (p ResolvedPath) blame(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, disk.ErrLink):
		return &fs.PathError{Op: "open", Path: p.name, Err: ErrMoved}
	case missing(err) && p.dir != nil && p.dir.Gone():
		return &fs.PathError{Op: "open", Path: p.name, Err: &GoneError{p.dir.Path()}}
	}
	outside, size := (*OutsideError)(nil), (*SizeError)(nil)
	if errors.As(err, &outside) || errors.As(err, &size) {
		return err
	}
	return rename(err, p.name)
}

// lstat describes the file there. It may be a link by now.
func (p ResolvedPath) lstat() (fs.FileInfo, error) {
	if n := p.w.Overlay.known(p.real); n != nil {
		return n, nil
	}
	return p.disk()
}

// disk is lstat without the Overlay.
func (p ResolvedPath) disk() (fs.FileInfo, error) {
	if p.dir == nil {
		return nil, fs.ErrNotExist
	}
	return p.dir.Lstat(p.rel)
}

// stat is lstat, but a link is an error.
func (p ResolvedPath) stat() (fs.FileInfo, error) {
	info, err := p.lstat()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, disk.ErrLink
	}
	return info, err
}

// list returns the entries of the directory, in no order. There may be entries beside an error.
func (p ResolvedPath) list() (entries []fs.DirEntry, err error) {
	err = fs.ErrNotExist
	if p.dir != nil {
		entries, err = p.dir.List(p.rel)
	}
	if p.w.Overlay == nil || err != nil && !missing(err) {
		return entries, err
	}
	written, there := p.w.Overlay.in(p.real)
	if !there {
		return entries, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return written[folded(e.Name())] != nil })
	for _, n := range written {
		entries = append(entries, fs.FileInfoToDirEntry(n))
	}
	return entries, nil
}

// read returns the content of the regular file there, if it has no more than
// limit bytes.
func (p ResolvedPath) read(limit int64) ([]byte, fs.FileInfo, error) {
	n := p.w.Overlay.known(p.real)
	switch {
	case n == nil:
		b, info, err := p.load(limit)
		if err == nil {
			b, err = p.edited(b)
		}
		return b, info, err
	case n.IsDir():
		return nil, nil, ErrDirectory
	case n.Size() > limit:
		return nil, n, &SizeError{Path: p.name, Size: n.Size(), Limit: limit}
	}
	return slices.Clone(n.now), n, nil
}

// load is read without the Overlay.
func (p ResolvedPath) load(limit int64) ([]byte, fs.FileInfo, error) {
	if p.dir == nil {
		return nil, nil, fs.ErrNotExist
	}
	f, info, err := p.dir.File(p.rel)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := disk.ReadOpen(f, limit)
	if large := disk.TooLargeError(0); errors.As(err, &large) {
		err = &SizeError{Path: p.name, Size: max(info.Size(), limit+1), Limit: limit}
	}
	return b, info, err
}

// put makes b the content of the file there.
func (p ResolvedPath) put(b []byte) (err error) {
	if err := p.Writable(); err != nil {
		return err
	}
	if p.w.Overlay != nil {
		err = p.w.Overlay.put(p, b)
	} else if done, herr := p.hand(b); done {
		err = herr
	} else {
		err = p.save(b)
	}
	if errors.Is(err, syscall.ENOTDIR) { // of a parent
		return ErrNoDirectory
	}
	return err
}

// save is put without the Overlay.
func (p ResolvedPath) save(b []byte) (err error) {
	if p.dir == nil {
		if p.dir, err = p.w.dirs.makeTemp(); err != nil {
			return err
		}
	}
	at, end, err := p.dir.Make(filepath.Dir(p.rel))
	if err != nil {
		return err
	}
	defer func() { end(err != nil) }()
	return p.replace(at, b)
}

// replace makes b the content of the file, in the directory at.
func (p ResolvedPath) replace(at *os.Root, b []byte) error {
	name := filepath.Base(p.rel)
	old, err := replaceable(at, name)
	if err != nil {
		return err
	}
	f, err := p.w.ledger.CreateIn(at, filepath.Dir(p.real), old)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Commit(name)
}

// replaceable returns the file called name, nil if there is none, or why it can't be
// replaced.
func replaceable(at *os.Root, name string) (fs.FileInfo, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = disk.Regular(info)
	}
	if err != nil {
		return nil, err
	}
	// A rename would also replace a file without write permission.
	f, err := at.OpenFile(name, os.O_WRONLY|disk.NoWait, 0)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}
