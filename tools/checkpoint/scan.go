package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gemline/engine/disk"
	"gemline/engine/parallel"
	"gemline/engine/secret"
)

// Bounds of a scan.
const (
	mostFiles    = 250_000          // that are not ignored
	mostIgnored  = 5000             // ignored files that are scanned
	longestFirst = 20 * time.Second // of a project's first scan
)

// errTooMuch means that a folder exceeds a limit.
var errTooMuch = errors.New("there is too much in this folder to keep all of it")

// A scan compares files with their nodes, and stores new content. It scans directories in
// parallel; a node belongs to the goroutine that scans its directory.
type scan struct {
	history *history
	kind    Kind // of the resulting state
	ctx     context.Context
	fail    context.CancelCauseFunc // ends the scan; the first cause counts
	except  map[string]bool         // paths that are skipped
	at      time.Time
	local   bool
	sorted  bool // the ignore rules are applied again
	first   bool // nothing was known
	slots   chan struct{}

	files, ignored atomic.Int64
	ruled          atomic.Bool // an ignore file has changed

	mu   sync.Mutex
	lost []string // changed files whose contents are not stored
}

// newScan returns a scan that has not begun.
func (h *history) newScan(ctx context.Context, kind Kind) *scan {
	s := &scan{history: h, kind: kind, except: map[string]bool{}, at: time.Now(),
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	for _, path := range h.cfg.Except {
		s.except[disk.ResolveLinks(path)] = true
	}
	return s
}

// stopped reports whether the scan was stopped by an error or a limit.
func (s *scan) stopped() bool {
	switch {
	case s.files.Load() > mostFiles:
		s.fail(fmt.Errorf("%w: more than %d files", errTooMuch, mostFiles))
	case s.first && time.Since(s.at) > longestFirst:
		s.fail(fmt.Errorf("%w in %v", errTooMuch, longestFirst))
	}
	return s.ctx.Err() != nil
}

// noteLost notes the change of a file whose content is not stored.
func (s *scan) noteLost(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, text)
}

// all scans all files.
func (s *scan) all() error {
	h := s.history
	rules := h.rulesAbove()
	s.sorted, s.first = rules != h.rules && h.scanned, !h.scanned
	if s.first {
		h.store.index()
	}
	for range 2 {
		for _, root := range h.cfg.Workspace.Roots() {
			if !slices.ContainsFunc(h.cfg.Workspace.Roots(), func(other string) bool { return other != root && disk.Inside(other, root) }) {
				s.root(root)
			}
		}
		if s.ctx.Err() != nil || s.sorted || !s.ruled.Load() {
			break
		}
		s.sorted = true
	}
	err := context.Cause(s.ctx)
	if err == nil {
		h.rules, h.scanned = rules, true
	}
	return err
}

// root scans a root of the workspace.
func (s *scan) root(path string) {
	n := s.history.top.at(path, true)
	if f := s.open(n, path); f != nil {
		defer f.Close()
		n.tracking, n.settled = full, n.settled && n.tracking == full
		s.folder(n, f, path)
	}
}

// open opens the directory at which a scan starts, nil if it can't be opened.
func (s *scan) open(n *node, path string) *disk.RawDir {
	s.local = disk.OnLocalDisk(path)
	d, err := disk.OpenDir(path)
	if err == nil {
		defer d.Close()
		var f *disk.RawDir
		if f, err = d.RawDir("."); err == nil {
			return f
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.fail(err)
	}
	n.gone()
	return nil
}

// folder scans the entries of a directory.
func (s *scan) folder(n *node, f *disk.RawDir, path string) {
	look, err := f.Stat()
	if err != nil {
		s.fail(err)
	}
	if s.stopped() {
		return
	}
	var hides func(name string, dir bool) bool // nil if the directory is unchanged
	if !n.settled || s.sorted || look != n.look {
		if hides, err = s.list(n, f, path); err != nil {
			n.gone()
			if !errors.Is(err, disk.ErrKernel) {
				s.fail(err)
			}
			return
		}
	}
	n.own = n.own && (look == n.look || s.kind == ToolCall)
	n.look, n.settled = look, look.Stable(s.at, s.local)
	var wg sync.WaitGroup
	var p parallel.Panic
	for _, k := range slices.Clone(n.kids) {
		look, err := f.StatAt(k.name)
		dir := look.Mode.IsDir()
		if err == nil && hides != nil {
			s.assign(k, dir, hides(k.name, dir))
		}
		if k.tracking == ignored {
			s.ignored.Add(1)
		}
		switch {
		case err != nil:
			s.vanish(k)
		case dir:
			s.enter(k, f, filepath.Join(path, k.name), &wg, &p)
		default:
			s.file(k, f, look, path)
		}
	}
	wg.Wait()
	p.Raise()
}

// enter scans a subdirectory, in a goroutine if a slot is free.
func (s *scan) enter(k *node, f *disk.RawDir, path string, wg *sync.WaitGroup, p *parallel.Panic) {
	k.become(true)
	sub, err := f.RawDir(k.name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && k.exists() {
			s.noteLost(path + string(filepath.Separator) + ": it can't be read")
		}
		k.gone()
		return
	}
	select {
	case s.slots <- struct{}{}:
		wg.Go(func() {
			defer func() { <-s.slots }()
			defer p.Catch()
			defer sub.Close()
			s.folder(k, sub, path)
		})
	default:
		defer sub.Close()
		s.folder(k, sub, path)
	}
}

// vanish records that an entry is gone.
func (s *scan) vanish(k *node) {
	s.noteDeleted(k)
	if strings.EqualFold(k.name, ".gitignore") && k.exists() {
		s.ruled.Store(true)
	}
	k.gone()
}

// noteDeleted records the deletion of files below k whose contents are not stored.
func (s *scan) noteDeleted(k *node) {
	if k.git {
		s.noteLost(filepath.Join(k.path(), ".git") + ": deleted")
	}
	switch dir := k.look.Mode.IsDir(); {
	case k.tracking == ignored && k.exists() && dir:
		s.noteLost(k.path() + string(filepath.Separator) + ": deleted")
		return
	case k.exists() && !dir && k.sum == "":
		s.noteLost(k.path() + ": deleted")
	}
	for _, k := range k.kids {
		s.noteDeleted(k)
	}
}

// list updates the entries of a directory, and returns the function that reports whether an
// entry is ignored.
func (s *scan) list(n *node, f *disk.RawDir, path string) (hides func(string, bool) bool, err error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	was := n.git
	if n.git = slices.ContainsFunc(names, isGit); was && !n.git {
		s.noteLost(filepath.Join(path, ".git") + ": deleted")
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return s.except[filepath.Join(path, name)] || isGit(name) || disk.IsUnfinished(name)
	})
	slices.Sort(names)
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool {
		if _, still := slices.BinarySearch(names, k.name); still {
			return false
		}
		s.vanish(k)
		return k.empty()
	})
	for _, name := range names {
		if n.tracking == ignored && s.ignored.Load()+int64(len(n.kids)) >= mostIgnored {
			break
		}
		if n.kid(name, false) == nil {
			// An entry of a directory that was not scanned before may be older than the
			// call.
			n.kid(name, true).own = s.kind == ToolCall && !s.sorted && (n.own || n.exists())
		}
	}
	if n.tracking != ignored && len(names) > 0 {
		return s.history.cfg.Workspace.Ignore.GitHides(path), nil
	}
	return func(string, bool) bool { return true }, nil
}

// assign decides whether an entry is stored. A named file is always stored.
func (s *scan) assign(k *node, dir, hidden bool) {
	switch {
	case hidden && k.tracking == explicit && !dir && (k.sum != "" || s.history.names[k.path()]):
	case !hidden && k.tracking == ignored && k.exists(): // the file is not new, though its content was not stored before
	case hidden:
		if k.tracking == full {
			k.gone()
		}
		k.tracking = ignored
	default:
		k.tracking = full
	}
}

// file scans an entry that is no directory.
func (s *scan) file(k *node, f *disk.RawDir, look disk.Stat, dir string) {
	if k.tracking != ignored {
		s.files.Add(1)
	}
	k.become(false)
	if look == k.look && k.settled {
		return
	}
	k.own = k.own && (look == k.look || s.kind == ToolCall)
	was, path := k.look, filepath.Join(dir, k.name)
	content, err := s.content(k, f, look, path)
	switch {
	case err == nil:
		s.keep(k, look, content)
	case err != errUnkept && k.sum != "" && unwritten(was, look): // its mode keeps it from being read now
		k.look, k.settled = look, false
	default:
		known := was != disk.Stat{}
		if known && !unwritten(was, look) {
			s.noteLost(path + ": changed")
		} else if !known && k.tracking != ignored && !s.first {
			s.noteLost(path + ": made")
		}
		k.look, k.sum, k.settled = look, "", err == errUnkept // after other errors, the next scan tries again
	}
}

// keep stores a file.
func (s *scan) keep(k *node, look disk.Stat, content []byte) {
	sum, err := s.history.store.add(content)
	if err != nil {
		s.fail(err)
		return
	}
	if (sum != k.sum || look.Mode != k.look.Mode) && strings.EqualFold(k.name, ".gitignore") && !s.first {
		s.ruled.Store(true)
	}
	k.look, k.sum, k.settled = look, sum, look.Stable(s.at, s.local)
}

// errUnkept means that the content of a file is not stored: the file is ignored, may hold
// secrets, is too large or not regular.
var errUnkept = errors.New("it is not kept")

// unwritten reports whether the content of a file is the same at two stats. Its permissions
// may differ.
func unwritten(a, b disk.Stat) bool {
	return a.Size == b.Size && a.Modified == b.Modified && a.Ino == b.Ino && a.Mode.Type() == b.Mode.Type()
}

// content returns the content of a file to store.
func (s *scan) content(k *node, f *disk.RawDir, look disk.Stat, path string) ([]byte, error) {
	link := look.Mode&fs.ModeSymlink != 0
	switch {
	case k.tracking == ignored, secret.Path(s.history.cfg.Workspace.Rel(path)), !link && (!look.Mode.IsRegular() || look.Size > s.history.cfg.MostBytes):
		return nil, errUnkept
	case link:
		to, err := f.Readlink(k.name)
		return []byte(to), err
	}
	file, err := f.File(k.name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return disk.ReadOpen(file, s.history.cfg.MostBytes)
}

// path scans a named file, and the directories from its base down to it.
func (s *scan) path(path string) {
	base, _ := s.history.base(path)
	n := s.history.top.at(base, true)
	f := s.open(n, base)
	if f == nil {
		return
	}
	defer func() { f.Close() }()
	names, here := parts(strings.TrimPrefix(path, base)), base
	for i, name := range names {
		n = n.kid(name, true)
		look, err := f.StatAt(name)
		last := i == len(names)-1
		if last && n.tracking == ignored {
			n.gone()
			n.tracking = explicit
		}
		switch {
		case err != nil:
			n.gone()
			return
		case !look.Mode.IsDir():
			s.file(n, f, look, here)
			return
		}
		n.become(true)
		n.look, n.settled = look, n.settled && n.look == look // the entries of a changed directory are not known
		next, err := f.RawDir(name)
		if err != nil {
			return // an unreadable directory: no call can edit the file
		}
		f.Close()
		f, here = next, filepath.Join(here, name)
	}
}
