package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"gemline/engine/disk"
	"gemline/engine/lists"
)

// An Outcome is the result of a plan.
type Outcome struct {
	Done   int      // paths that have their target version
	Dirs   int      // how many of them are directories
	Left   []string // directories that are not empty
	Failed []string // paths that could not be touched, and why
}

// note counts a path as done, or as failed with the reason.
func (o *Outcome) note(c Change, err error) {
	if err != nil {
		o.Failed = append(o.Failed, fmt.Sprintf("%s: %v", c.Path, disk.Cause(err)))
		return
	}
	o.Done++
	if c.After.dir() || !c.After.Exists() && c.Before.dir() {
		o.Dirs++
	}
}

// Apply carries out a plan, but for the conflicts. The current files are stored first.
func (k *Keeper) Apply(ctx context.Context, p *Plan) (o Outcome, err error) {
	changes, whole := p.Changes, len(p.Conflicts) == 0 || p.Settled
	if len(changes) == 0 && !whole {
		return o, nil
	}
	err = k.with(ctx, func() error {
		h := k.history
		paths, err := h.begin(ctx, p, lists.Map(changes, func(c Change) string { return c.Path }))
		if err != nil {
			return fmt.Errorf("nothing is changed, since the present files can't be copied: %w", err)
		}
		r := &restorer{history: h, dirs: map[string]*disk.Dir{}, modes: map[string]fs.FileMode{}}
		o = r.restore(ctx, changes)
		done, _, err := h.take(context.WithoutCancel(ctx), p.Kind, false, paths)
		if err != nil {
			return err
		}
		unlike := func(c Change) bool {
			return !c.After.dir() && !slices.Contains(o.Left, c.Path) && h.top.at(c.Path, true).version() != c.After
		}
		if i := slices.IndexFunc(changes, unlike); i >= 0 && len(o.Failed) == 0 { // else a redo would leave it
			o.note(changes[i], errUnseen)
		}
		record := Record{Kind: p.Kind, Unfinished: len(o.Failed) > 0 || !whole}
		if p.Kind == Restored {
			record.Turn, record.Tool, record.Title, record.Asked = uuid.NewString(), "trash restore", p.Title, p.Title
		}
		if !record.Unfinished {
			for _, d := range p.Turns {
				record.Turns = append(record.Turns, d.Of.ID)
			}
		}
		return h.commit(done, record)
	})
	return o, err
}

// A restorer writes files. It opens them from directories of the workspace, and follows no link.
type restorer struct {
	history *history
	dirs    map[string]*disk.Dir
	modes   map[string]fs.FileMode // final modes of directories
}

// open returns the directory that holds a path, and the name in it. If wanted is true, it
// creates missing directories.
func (r *restorer) open(path string, wanted bool) (at *os.Root, name string, err error) {
	base, rel, err := r.history.resolve(path)
	if err != nil {
		return nil, "", err
	}
	d := r.dirs[base]
	if d == nil {
		if d, err = disk.OpenDir(base); err != nil {
			return nil, "", err
		}
		r.dirs[base] = d
	}
	at, err = d.Sub(filepath.Dir(rel))
	if wanted && errors.Is(err, fs.ErrNotExist) {
		var end func(bool)
		if _, end, err = d.Make(filepath.Dir(rel)); err == nil {
			end(false)
			at, err = d.Sub(filepath.Dir(rel))
		}
	}
	return at, filepath.Base(rel), err
}

// restore makes the changes in three steps: it removes files and directories, the deepest
// first; it creates directories and writes files, parents first; it sets modes of directories.
func (r *restorer) restore(ctx context.Context, changes []Change) (o Outcome) {
	var later []Change
	for _, c := range slices.Backward(changes) {
		gone := c.Before.Exists() && (!c.After.Exists() || c.Before.dir() != c.After.dir())
		n := r.history.top.at(c.Path, false)
		var err error
		switch {
		case n != nil && n.look.Mode.IsRegular() && n.exists() && n.sum == "":
			err = errUnsaved
		case gone:
			err = r.remove(c)
		}
		switch {
		case errors.Is(err, fs.ErrExist) && c.Before.dir() && !c.After.Exists(): // it is not empty
			o.Left = append(o.Left, c.Path)
		case err != nil, gone && !c.After.Exists():
			o.note(c, err)
		default:
			later = append(later, c)
		}
	}
	for _, c := range slices.Backward(later) {
		err := ctx.Err()
		switch {
		case err != nil:
		case c.After.dir():
			err = r.directory(c)
		default:
			err = r.file(c)
		}
		o.note(c, err)
	}
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(r.modes))) {
		if err := r.chmod(path, r.modes[path]); err != nil {
			o.note(Change{Path: path}, err)
		}
	}
	for _, d := range r.dirs {
		if err := d.Flush(); err != nil {
			o.Failed = append(o.Failed, fmt.Sprintf("the disk may not have kept it: %v", err))
		}
		d.Close()
	}
	slices.Sort(o.Left)
	return o
}

// Reasons why a path is not touched.
var (
	errUnsaved   = errors.New("the present file can't be copied, and would be lost")
	errMeanwhile = errors.New("it is another file by now")
	errUnseen    = errors.New("it could not be read afterwards, or was changed at once")
)

// within calls do with the directory of a path, which is writable meanwhile.
func (r *restorer) within(path string, wanted bool, do func(at *os.Root, name string) error) error {
	at, name, err := r.open(path, wanted)
	if err != nil {
		return err
	}
	defer at.Close()
	if err = do(at, name); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	dir := filepath.Dir(path)
	info, serr := at.Stat(".")
	if serr != nil || info.Mode().Perm()&0o300 == 0o300 {
		return err
	}
	if _, known := r.modes[dir]; !known {
		r.modes[dir] = info.Mode()
	}
	if r.chmod(dir, info.Mode()|0o700) != nil {
		return err
	}
	return do(at, name)
}

func (r *restorer) remove(c Change) error {
	err := r.within(c.Path, false, func(at *os.Root, name string) error {
		switch info, err := at.Lstat(name); {
		case err != nil:
			return err
		case info.IsDir() != c.Before.dir():
			return errMeanwhile
		}
		return at.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	delete(r.modes, c.Path)
	return err
}

func (r *restorer) directory(c Change) error {
	err := r.within(c.Path, true, func(at *os.Root, name string) error {
		err := at.Mkdir(name, 0o700)
		if info, _ := at.Lstat(name); info != nil && info.IsDir() {
			err = nil
		}
		return err
	})
	if err == nil {
		r.modes[c.Path] = c.After.Mode
	}
	return err
}

// chmod gives a directory a mode.
func (r *restorer) chmod(path string, mode fs.FileMode) error {
	at, name, err := r.open(path, false)
	if err != nil {
		return err
	}
	defer at.Close()
	info, err := at.Lstat(name)
	if err != nil || !info.IsDir() || info.Mode() == mode {
		return err
	}
	return at.Chmod(name, mode)
}

// file writes a file or a link.
func (r *restorer) file(c Change) error {
	content, err := r.history.store.content(c.After.Sum, r.history.cfg.MostBytes)
	if err != nil {
		return err
	}
	return r.within(c.Path, true, func(at *os.Root, name string) error {
		if c.After.Mode&fs.ModeSymlink != 0 {
			temp := fmt.Sprintf(".gemline-%016x", rand.Uint64())
			defer at.Remove(temp) // if it was not renamed
			return cmp.Or(at.Symlink(string(content), temp), at.Rename(temp, name))
		}
		old, err := at.Lstat(name)
		if err != nil || !old.Mode().IsRegular() {
			old = nil
		}
		f, err := r.history.cfg.Ledger.CreateIn(at, filepath.Dir(c.Path), old)
		if err != nil {
			return err
		}
		defer f.Discard()
		if _, err := f.Write(content); err != nil {
			return err
		}
		return f.Swap(name, c.After.Mode)
	})
}
