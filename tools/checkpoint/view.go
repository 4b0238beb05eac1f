package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gemline/engine/lists"
	"gemline/engine/secret"
	"gemline/engine/text"
	"gemline/tools/edit"
)

// A FileStat describes the change of a file.
type FileStat struct {
	Path    string `json:"path"`
	Action  string `json:"what"` // made, deleted, changed, or mode
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
}

// String returns s as a line.
func (s FileStat) String() string {
	lines := fmt.Sprintf("+%d -%d", s.Added, s.Removed)
	if s.Binary {
		lines = "not text"
	}
	return fmt.Sprintf("%s %s (%s)", s.Action, s.Path, lines)
}

// Stats counts what a turn did to files. Directories are not counted.
func (k *Keeper) Stats(ctx context.Context, d *ChangedTurn) (list []FileStat, err error) {
	err = k.with(ctx, func() error {
		for path, g := range targets(Calls([]*ChangedTurn{{Calls: d.Calls}})) {
			if c := (Change{Path: path, Before: g.after, After: g.before}); c.ofFile() {
				list = append(list, stat(c, k.history.stored(c.Before), k.history.stored(c.After)))
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b FileStat) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// mostCompared is how many bytes of a file are compared by lines.
const mostCompared = 1 << 20

func stat(c Change, before, after string) FileStat {
	s := FileStat{Path: c.Path, Action: c.action()}
	if s.Binary = !readable(before) || !readable(after); !s.Binary {
		_, st := edit.Diff("a", "b", before, after)
		s.Added, s.Removed = st.Added, st.Removed
	}
	return s
}

// readable reports whether a text can be compared by lines.
func readable(s string) bool {
	return len(s) <= mostCompared && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// Changed returns the changes since before the first turn of the session, file by file, and
// as a patch.
func (k *Keeper) Changed(ctx context.Context, rel func(string) string) (list []FileStat, patch string, err error) {
	all, err := k.Turns(ctx)
	if err != nil {
		return nil, "", err
	}
	p, err := k.UndoCalls(ctx, Calls(all))
	if err != nil {
		return nil, "", err
	}
	var files []edit.File
	err = k.with(ctx, func() error {
		p.Overwrite()
		for _, c := range p.Changes {
			c.Before, c.After = c.After, c.Before // from the old state to the new one
			if !c.ofFile() {
				continue
			}
			_, b, _ := k.history.read(c.Path)
			before, after := k.history.stored(c.Before), string(b)
			list = append(list, stat(c, before, after))
			if c.After.Sum != "?" { // else it can't be read
				files = append(files, edit.File{Name: rel(c.Path), OldMode: c.Before.git(), NewMode: c.After.git(), Old: before, New: after})
			}
		}
		return nil
	})
	return list, edit.Patch(files, readable), err
}

// mostNamed is how many paths a message lists of each kind.
const mostNamed = 20

// Lines describes a plan.
func (p *Plan) Lines(rel func(string) string) (ls []string) {
	ls = ChangeLines(p.Changes, rel)
	if others := lists.Map(p.Conflicts, func(c Change) string { return rel(c.Path) }); len(others) > 0 {
		ls = append(ls, "changed by others since, and left as they are unless you say so: "+text.List(others))
	}
	if len(p.Outside) > 0 {
		ls = append(ls, "not touched, since it lies outside of the workspace: "+text.List(p.Outside))
	}
	for _, path := range p.NotKept {
		path, what, _ := strings.Cut(path, ": ")
		said := "without a copy, and can't be brought back: %s (%s)"
		if what == "made" {
			said = "without a copy, and stays: %s (%s)"
		}
		ls = append(ls, fmt.Sprintf(said, rel(path), what))
	}
	if p.More > 0 {
		ls = append(ls, fmt.Sprintf("and %d more without a copy", p.More))
	}
	if len(p.GitMoved) > 0 {
		ls = append(ls, "git's own stays as commands left it: "+text.List(p.GitMoved))
	}
	if p.Partial != "" {
		ls = append(ls, "only files that calls name were kept: "+p.Partial)
	}
	return ls
}

// ChangeLines describes changes of paths, an indented line each. Of a long list it names the
// first ones and counts the rest.
func ChangeLines(list []Change, rel func(string) string) (ls []string) {
	for i, c := range list {
		if i == mostNamed {
			return append(ls, fmt.Sprintf("  and %d more", len(list)-mostNamed))
		}
		ls = append(ls, "  "+c.String()+" "+rel(c.Path))
	}
	return ls
}

// action names the kind of change.
func (c Change) action() string {
	switch {
	case !c.Before.Exists(), c.Before.dir() && c.After.file():
		return "made"
	case !c.After.Exists(), c.Before.file() && c.After.dir():
		return "deleted"
	case c.Before.Sum == c.After.Sum && c.Before.Mode.Type() == c.After.Mode.Type():
		return "mode of"
	}
	return "changed"
}

// String describes the change of a path.
func (c Change) String() string {
	action := c.action()
	return cmp.Or(map[string]string{"made": "bring back", "deleted": "delete", "changed": "restore"}[action], action)
}

// Lines describes the result of a plan.
func (o Outcome) Lines(rel func(string) string) (ls []string) {
	for _, f := range o.Failed {
		path, why, _ := strings.Cut(f, ": ")
		ls = append(ls, fmt.Sprintf("not done: %s: %s", rel(path), why))
	}
	for _, dir := range o.Left {
		ls = append(ls, "kept, since something else is in it: "+rel(dir))
	}
	return ls
}

// Count says how many files and directories have their target version.
func (o Outcome) Count() string {
	var counts []string
	if o.Done > o.Dirs || o.Dirs == 0 {
		counts = append(counts, text.Count(o.Done-o.Dirs, "file"))
	}
	if o.Dirs > 0 {
		counts = append(counts, text.Count(o.Dirs, "directory"))
	}
	return strings.Join(counts, ", ")
}

// A DiscardedFile is a file that a call deleted or overwrote.
type DiscardedFile struct {
	Path    string    `json:"path"`
	Action  string    `json:"what"` // deleted or overwritten
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Title   string    `json:"title,omitempty"`
	Version Version   `json:"-"`
}

// Trash returns the files that calls of all sessions deleted or overwrote, and files that were
// overwritten when a file was brought back, the last first.
func (k *Keeper) Trash(ctx context.Context) (list []DiscardedFile, err error) {
	err = k.with(ctx, func() error {
		refs, err := k.history.store.refs()
		if err != nil {
			return err
		}
		seen := map[string]bool{} // copies of a session share states
		for _, one := range refs {
			all, err := states(k.history.store, one.Name(), false)
			if err != nil {
				return err
			}
			for _, s := range all {
				if seen[s.ID] {
					break
				}
				seen[s.ID] = true
				if s.Kind != ToolCall && s.Kind != Restored {
					continue
				}
				session := one.Name()
				if slices.ContainsFunc(refs, func(r fs.FileInfo) bool { return r.Name() == s.Session }) {
					session = s.Session
				}
				list = append(list, s.discarded(session)...)
			}
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b DiscardedFile) int { return b.Time.Compare(a.Time) })
	return list, err
}

// discarded returns the files that a state, of a session, has deleted or overwritten.
func (s State) discarded(session string) (list []DiscardedFile) {
	for _, c := range s.changes {
		if c.Before.file() && c.Before.Sum != c.After.Sum {
			action := map[bool]string{true: "overwritten", false: "deleted"}[c.After.file()]
			list = append(list, DiscardedFile{Path: c.Path, Action: action, Time: s.Time, Session: session, Title: s.Title, Version: c.Before})
		}
	}
	return list
}

// Recover returns the plan that puts a discarded file at a path.
func (k *Keeper) Recover(ctx context.Context, d DiscardedFile, path string) (p *Plan, err error) {
	rel := k.cfg.Workspace.Rel
	p = &Plan{Kind: Restored, Title: "trash restore " + rel(d.Path)}
	if path != d.Path {
		p.Title += " --to " + rel(path)
	}
	is, _, err := k.history.read(path)
	switch {
	case err != nil:
		return nil, err
	case is.dir():
		return nil, fmt.Errorf("%s is a directory", rel(path))
	case is == d.Version:
		return p, nil
	case is.Exists() && (is.Sum == "?" || secret.Path(rel(path))):
		return nil, fmt.Errorf("%s is there and has no copy: it would be lost", rel(path))
	}
	p.Changes = []Change{{Path: path, Before: is, After: d.Version}}
	return p, nil
}

// DescribeChange describes the file at the path of a change, and the file that replaces it.
func (k *Keeper) DescribeChange(ctx context.Context, c Change) (is, comes string, err error) {
	err = k.with(ctx, func() error {
		_, b, _ := k.history.read(c.Path)
		is = about(c.Before, string(b))
		comes = about(c.After, k.history.stored(c.After))
		return nil
	})
	return is, comes, err
}

// about describes a version in a few words.
func about(v Version, content string) string {
	switch {
	case v.Mode&fs.ModeSymlink != 0:
		return "a link to " + content
	case content == "":
		return "empty"
	case !readable(content):
		return text.Count(len(content), "byte")
	}
	return text.Count(strings.Count(strings.TrimSuffix(content, "\n"), "\n")+1, "line")
}

// Sessions returns the ids of the sessions that have stored states, the last first.
func (k *Keeper) Sessions(ctx context.Context) (ids []string, err error) {
	err = k.with(ctx, func() error {
		refs, err := k.history.store.refs()
		slices.SortFunc(refs, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
		ids = lists.Map(refs, fs.FileInfo.Name)
		return err
	})
	return ids, err
}
