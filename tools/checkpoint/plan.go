package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

// A Plan is the changes to files for an undo, a redo or a restore.
type Plan struct {
	Kind      Kind
	Title     string         // of the restored state
	Turns     []*ChangedTurn // that are undone or redone, the last first
	Changes   []Change       // from the current files to the restored files
	Conflicts []Change       // changes to files that others have changed since
	Outside   []string       // files that may not be touched here
	NotKept   []string       // changed files whose contents are not stored
	More      int
	GitMoved  []string // HEAD, branches and the like, which stay
	Partial   string   // the reason why only named files were kept

	Settled bool // skipped files of others are not offered again

	already []Change // of files that are restored already, or halfway, before an undo begins
}

// Overwrite makes the changes to files that others have changed part of the plan.
func (p *Plan) Overwrite() {
	p.Changes, p.Conflicts = slices.Concat(p.Changes, p.Conflicts), nil
	slices.SortFunc(p.Changes, func(a, b Change) int { return comparePaths(a.Path, b.Path) })
}

// Empty reports whether no file has to be touched.
func (p *Plan) Empty() bool { return len(p.Changes)+len(p.Conflicts) == 0 }

// Errors for an undo or a redo with nothing to do.
var (
	ErrNothing = errors.New("nothing was changed that could be taken back")
	ErrFormer  = errors.New("what an older gemline kept of this session can't be taken back: its form has changed")
	ErrNoRedo  = errors.New("nothing was taken back that could be done again")
)

// Turns returns the turns of the session that have changed something, the last one
// first.
func (k *Keeper) Turns(ctx context.Context) (list []*ChangedTurn, err error) {
	err = k.with(ctx, func() error {
		all, err := states(k.history.store, k.cfg.Session(), false)
		list = turns(all)
		if _, lerr := k.history.store.dir.Lstat(filepath.Join("refs", "sessions", k.cfg.Session())); err == nil && len(all) == 0 && lerr == nil {
			return ErrFormer
		}
		return err
	})
	return list, err
}

// with calls do with the open store, or returns [ErrNothing] if there is no store.
func (k *Keeper) with(ctx context.Context, do func() error) error {
	if _, err := os.Lstat(k.cfg.Dir); err != nil && k.cfg.Dir != "" && k.cfg.Off == "" {
		return ErrNothing // no store is created for a lookup
	}
	return k.use(ctx, do)
}

// use calls do with the open store, and creates a missing store.
func (k *Keeper) use(ctx context.Context, do func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	done, err := k.history.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	return do()
}

// Undo returns the plan that undoes turns, the last first.
func (k *Keeper) Undo(ctx context.Context, list []*ChangedTurn) (*Plan, error) {
	p, err := k.UndoCalls(ctx, Calls(list))
	p.Turns = list
	return p, err
}

// UndoCalls returns the plan that undoes calls, the last first. A redo can reverse it, and
// the turns of the calls do not count as undone.
func (k *Keeper) UndoCalls(ctx context.Context, calls []State) (*Plan, error) {
	p := &Plan{Kind: Undone}
	err := k.with(ctx, func() error {
		all := targets(calls)
		for _, s := range calls {
			p.NotKept, p.GitMoved = append(p.NotKept, s.NotKept...), append(p.GitMoved, s.GitMoved...)
			p.More += s.More
			p.Partial = cmp.Or(s.Partial, p.Partial)
		}
		p.NotKept, p.GitMoved = unique(p.NotKept), unique(p.GitMoved)
		k.history.unmake(p, all)
		return k.history.fill(p, all)
	})
	return p, err
}

// unique sorts a list and removes duplicates.
func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// A target is the version that a path gets, and the version that it is expected to have.
type target struct {
	after, before Version
	conflict      bool // others have changed the file between two calls
}

// halfway reports whether a path is between two steps of a plan: the old file is removed, or
// a directory does not have its mode yet.
func (g *target) halfway(is Version) bool {
	if !is.Exists() {
		return g.after.Exists() && g.before.Exists() && g.after.dir() != g.before.dir()
	}
	passing := func(mode fs.FileMode) bool { return mode.IsDir() && is.Mode == mode|0o700 }
	return g.after.dir() && is.dir() && (!g.before.Exists() || passing(g.after.Mode) || passing(g.before.Mode))
}

// targets returns the targets that undo calls, the last first. If a file changed between two
// calls, others have changed it: a conflict.
func targets(calls []State) map[string]*target {
	all := map[string]*target{}
	for _, s := range slices.Backward(calls) {
		for _, c := range s.changes {
			g := all[c.Path]
			if g == nil {
				g = &target{after: c.Before, before: c.Before}
				all[c.Path] = g
			}
			g.conflict = g.conflict || s.Unsure || g.before != c.Before
			g.before = c.After
		}
	}
	return all
}

// Redo returns the plan that reverses the last undo, as long as nothing was changed since.
func (k *Keeper) Redo(ctx context.Context) (p *Plan, err error) {
	p = &Plan{Kind: Redone}
	err = k.with(ctx, func() error {
		all, err := states(k.history.store, k.cfg.Session(), false)
		if err != nil {
			return err
		}
		skip := 0
		for _, s := range all {
			switch {
			case s.Kind == ToolCall, s.Kind == Restored:
				return ErrNoRedo
			case s.Kind == Redone:
				skip++
			case s.Kind == Undone && skip > 0:
				skip--
			case s.Kind == Undone: // or a /restore, which belongs to no turn
				p.Turns = slices.DeleteFunc(turns(all), func(d *ChangedTurn) bool { return !slices.Contains(s.Turns, d.Of.ID) })
				return k.history.fill(p, targets([]State{s}))
			}
		}
		return ErrNoRedo
	})
	return p, err
}

// fill compares the targets with the current files, and adds the changes to the plan.
func (h *history) fill(p *Plan, targets map[string]*target) error {
	for _, path := range slices.SortedFunc(maps.Keys(targets), comparePaths) {
		g := targets[path]
		if g.after == g.before && !g.conflict {
			continue
		}
		if (!g.after.Exists() || !g.before.Exists()) && slices.ContainsFunc(h.cfg.Workspace.Roots(),
			func(root string) bool { return disk.Inside(path, root) }) {
			continue // a root is never removed or made, not even one that is unknown here
		}
		if _, _, err := h.resolve(path); err != nil {
			p.Outside = append(p.Outside, path)
			continue
		}
		is, _, err := h.read(path)
		if err != nil {
			return err
		}
		c := Change{Path: path, Before: is, After: g.after}
		if p.Kind == Undone && !g.conflict && (is == g.after || g.halfway(is)) {
			p.already = append(p.already, Change{Path: path, Before: g.before, After: g.after})
		}
		switch {
		case is == g.after, is.dir() && g.after.dir() && is != g.before && !g.halfway(is):
		case g.halfway(is), is == g.before && !g.conflict,
			is.dir() && !g.after.Exists() && g.before.dir() && !g.conflict: // removed if it is empty
			p.Changes = append(p.Changes, c)
		default:
			p.Conflicts = append(p.Conflicts, c)
		}
	}
	return nil
}

// unmake adds targets that remove pipes and sockets made by calls.
func (h *history) unmake(p *Plan, all map[string]*target) {
	p.NotKept = slices.DeleteFunc(p.NotKept, func(lost string) bool {
		path, made := strings.CutSuffix(lost, ": made")
		is, _, err := h.read(path)
		if !made || err != nil || is.Mode&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
			return false
		}
		g := cmp.Or(all[path], &target{})
		g.before, all[path] = is, g
		return true
	})
}

// Calls returns the calls of turns that are not undone, the last first.
func Calls(list []*ChangedTurn) (calls []State) {
	for _, d := range list {
		if !d.Undone {
			last := len(calls)
			calls = append(calls, d.Calls...)
			slices.Reverse(calls[last:])
		}
	}
	return calls
}
