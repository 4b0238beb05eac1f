package workspace

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gemline/engine/parallel"
)

// WalkOptions says what a walk yields.
type WalkOptions struct {
	Rules   *Rules // nil means the rules of the Workspace
	Ignored bool   // yield ignored entries too, marked as such
	Under   bool   // also entries below ignored directories
	Dirs    bool   // yield directories too
	Info    bool   // fill in Entry.Info

	// Skip, if not nil, reports which files and whole directories to leave out. Keep, if not nil,
	// reports which of the others to yield. Both are called from several goroutines, with
	// absolute paths.
	Skip func(path string, dir bool) bool
	Keep func(path string, t fs.FileMode) bool

	byName bool // the entries of each directory in order
}

// An Entry is a file or directory found by a walk.
type Entry struct {
	Path    string // absolute
	Type    fs.FileMode
	Ignored bool
	Info    fs.FileInfo // nil if not asked for, or if the file is gone
}

// Walk yields the entries below dir, an absolute path in the workspace, that are not
// ignored. It omits withheld names, and yields links without following them. An unreadable
// directory is yielded with an error, and the walk continues. When ctx is done, its error is
// yielded last. All goroutines have ended when the loop ends.
func (w *Workspace) Walk(ctx context.Context, dir string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for b := range batches(ctx, w, dir, o) {
			if b.err != nil && !yield(Entry{Path: b.dir, Type: fs.ModeDir}, b.err) {
				return
			}
			for _, e := range b.entries {
				if ctx.Err() != nil {
					break
				}
				if !yield(e, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

// A batch is the entries of one directory.
type batch struct {
	entries []Entry
	err     error
	dir     string
}

// A walker is the remaining work of a walk.
type walker struct {
	o    WalkOptions
	mu   sync.Mutex
	wake sync.Cond
	todo []pending // a stack, which stays short
	busy int
	stop bool
}

type pending struct {
	place   ResolvedPath
	path    string // the path to report
	scope   *scope // of the parent directory; nil for the first
	first   bool
	ignored bool
}

// batches yields the entries of each directory, in no order. It ends early when ctx is done.
func batches(ctx context.Context, w *Workspace, dir string, o WalkOptions) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		at, err := w.Locate(dir)
		if err != nil {
			yield(batch{dir: dir, err: err})
			return
		}
		rules := w.Ignore.Rules
		if o.Rules != nil {
			rules = *o.Rules
		}
		wk := &walker{o: o, todo: []pending{{place: at, path: dir, scope: w.Ignore.scopeOf(dir, rules), first: true}}}
		wk.wake.L = &wk.mu
		out := make(chan batch, 64)
		ctx, cancel := context.WithCancel(ctx)
		var workers, others sync.WaitGroup
		var fell parallel.Panic
		defer fell.Raise()
		for range 2 * runtime.NumCPU() {
			workers.Go(func() { defer fell.Catch(cancel); wk.work(ctx, out) })
		}
		others.Go(func() {
			workers.Wait()
			close(out)
		})
		others.Go(func() {
			<-ctx.Done()
			wk.halt()
		})
		defer others.Wait()
		defer cancel()
		for b := range out {
			if ctx.Err() != nil || !yield(b) {
				return
			}
		}
	}
}

func (wk *walker) halt() {
	wk.mu.Lock()
	wk.stop = true
	wk.mu.Unlock()
	wk.wake.Broadcast()
}

func (wk *walker) work(ctx context.Context, out chan<- batch) {
	for {
		p, ok := wk.next()
		if !ok {
			return
		}
		b, dirs := wk.read(ctx, p)
		wk.mu.Lock()
		wk.todo = append(wk.todo, dirs...)
		wk.mu.Unlock()
		for range dirs {
			wk.wake.Signal()
		}
		if len(b.entries) > 0 || b.err != nil {
			select {
			case out <- b:
			case <-ctx.Done():
			}
		}
		wk.mu.Lock()
		wk.busy--
		idle := wk.busy == 0 && len(wk.todo) == 0
		wk.mu.Unlock()
		if idle {
			wk.wake.Broadcast()
		}
	}
}

// next waits for a directory to read. It reports false at the end of the walk.
func (wk *walker) next() (pending, bool) {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	for len(wk.todo) == 0 && wk.busy > 0 && !wk.stop {
		wk.wake.Wait()
	}
	if wk.stop || len(wk.todo) == 0 {
		return pending{}, false
	}
	p := wk.todo[len(wk.todo)-1]
	wk.todo = wk.todo[:len(wk.todo)-1]
	wk.busy++
	return p, true
}

// read returns the entries of p, and the directories to read next.
func (wk *walker) read(ctx context.Context, p pending) (batch, []pending) {
	b := batch{dir: p.path}
	found, err := p.place.list()
	if b.err = p.place.blame(err); found == nil {
		return b, nil
	}
	s := p.scope
	if !p.first {
		s = s.enterListed(p.path, found)
	}
	prefix := p.path
	if !os.IsPathSeparator(prefix[len(prefix)-1]) {
		prefix += string(filepath.Separator)
	}
	var dirs []pending
	b.entries = make([]Entry, 0, len(found))
	for _, e := range found {
		name, isDir := e.Name(), e.IsDir()
		if ctx.Err() != nil {
			break
		}
		if IsWithheld(name) {
			continue
		}
		path := prefix + name
		if wk.o.Skip != nil && wk.o.Skip(path, isDir) {
			continue
		}
		ignored := p.ignored || s.ignores(path, isDir)
		if ignored && !wk.o.Ignored {
			continue
		}
		if isDir && (!ignored || wk.o.Under) {
			dirs = append(dirs, pending{place: p.place.below(name), path: path, scope: s, ignored: ignored})
		}
		if isDir && !wk.o.Dirs || wk.o.Keep != nil && !wk.o.Keep(path, e.Type()) {
			continue
		}
		entry := Entry{Path: path, Type: e.Type(), Ignored: ignored}
		if wk.o.Info {
			entry.Info, _ = p.place.below(name).lstat()
		}
		b.entries = append(b.entries, entry)
	}
	if wk.o.byName {
		slices.SortFunc(b.entries, func(a, b Entry) int { return strings.Compare(a.Path[len(prefix):], b.Path[len(prefix):]) })
	}
	return b, dirs
}
