package workspace

import (
	"context"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gemline/engine/parallel"
)

// A Query is the parameters of a search.
type Query struct {
	Pattern *regexp.Regexp // matched against single lines
	Literal *Literal       // from [Literals]; nil if not known
	Exclude *regexp.Regexp // lines to leave out, or nil

	Rules *Rules                           // as in [WalkOptions]
	Skip  func(path string, dir bool) bool // as in [WalkOptions]
	Keep  func(path string) bool           // which files, nil for all
	Only  map[string]bool                  // if not nil, only these files

	PerFile int // lines per file, 0 for all
	Total   int // lines in all, 0 for all
}

// A Match is a matching line.
type Match struct {
	Path string // absolute
	Line int    // counted from 1
	Text string // without its end
}

// Search searches the text files below dir, or the file dir, and returns the matching lines.
// Directories are sorted by path, files by name, so that a limit always gives the same
// lines. Unreadable files are skipped.
func (w *Workspace) Search(ctx context.Context, dir string, q Query) ([]Match, error) {
	from, files, err := q.files(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	return q.search(ctx, from, files)
}

// files lists the files for q, and returns the target of dir.
func (q *Query) files(ctx context.Context, w *Workspace, dir string) (from ResolvedPath, files []string, err error) {
	one := false
	err = w.at(dir, func(p ResolvedPath) error {
		info, err := p.stat()
		from, one = p, err == nil && info.Mode().IsRegular()
		return err
	})
	if err != nil {
		return from, nil, err
	}
	if one {
		from.name = from.real
		return from, []string{from.real}, nil
	}
	o := WalkOptions{Rules: q.Rules, byName: true, Skip: q.Skip, Keep: func(path string, t fs.FileMode) bool {
		return t.IsRegular() && (q.Keep == nil || q.Keep(path)) &&
			(q.Only == nil || q.Only[path] || w.Overlay.known(from.reached(path).real) != nil)
	}}
	var dirs []batch
	n := 0
	for b := range batches(ctx, w, dir, o) {
		if b.err != nil && b.dir == dir {
			return from, nil, b.err
		}
		dirs = append(dirs, b)
		n += len(b.entries)
	}
	if err := ctx.Err(); err != nil {
		return from, nil, err
	}
	slices.SortFunc(dirs, func(a, b batch) int { return strings.Compare(a.dir, b.dir) })
	files = make([]string, 0, n)
	for _, b := range dirs {
		for _, e := range b.entries {
			files = append(files, e.Path)
		}
	}
	return from, files, nil
}

// reached returns the ResolvedPath of path, which a walk from p has found.
func (p ResolvedPath) reached(path string) ResolvedPath {
	if path == p.name {
		return p
	}
	return p.below(strings.TrimPrefix(path[len(p.name):], string(filepath.Separator)))
}

// block is how many files a goroutine takes at once, and window how many finished blocks may
// wait for collection.
const block, window = 16, 512

// found holds the matches in a block of files.
type found struct {
	block int
	lines []Match
}

// blocks searches the next blocks of files until none is left or g is done.
func (g *grepper) blocks(files []string, next *atomic.Int64, ahead chan<- struct{}, results chan<- found) {
	for {
		select {
		case ahead <- struct{}{}:
		case <-g.done:
			return
		}
		r := found{block: int(next.Add(1)) - 1}
		if r.block*block >= len(files) {
			return
		}
		for _, f := range files[r.block*block : min((r.block+1)*block, len(files))] {
			r.lines = append(r.lines, g.file(f)...)
		}
		results <- r
	}
}

// search searches files, which a walk from the path from has found, and returns the matches
// in order.
func (q *Query) search(ctx context.Context, from ResolvedPath, files []string) ([]Match, error) {
	inner, enough := context.WithCancel(ctx)
	defer enough()
	results := make(chan found, 64)
	ahead := make(chan struct{}, window)
	var next atomic.Int64
	var wg sync.WaitGroup
	var fell parallel.Panic
	for range 2 * runtime.NumCPU() {
		wg.Go(func() {
			defer fell.Catch(enough)
			g := &grepper{q: q, from: from, done: inner.Done()}
			g.blocks(files, &next, ahead, results)
		})
	}
	go func() {
		wg.Wait()
		close(results)
	}()
	var all []Match
	early := map[int][]Match{} // blocks that finished before their turn
	turn := 0
	for r := range results { // to the end, to wait for all goroutines
		early[r.block] = r.lines
		for lines, ok := early[turn]; ok; lines, ok = early[turn] {
			delete(early, turn)
			turn++
			<-ahead
			if q.Total == 0 || len(all) < q.Total {
				all = append(all, lines...)
			}
		}
		if q.Total > 0 && len(all) >= q.Total {
			enough()
		}
	}
	fell.Raise()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.Total > 0 {
		all = all[:min(len(all), q.Total)]
	}
	return all, nil
}
