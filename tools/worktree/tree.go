package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Tree is a linked worktree.
type Tree struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Branch  string `json:"branch"` // the checked out branch, "" for none
	Missing bool   `json:"missing,omitempty"`
	Locked  bool   `json:"locked,omitempty"` // locked by git worktree lock

	gitDir string // its git directory
	head   string // the contents of its HEAD
}

// Trees lists the trees that [Repository.Add] has made, sorted by name. It does not start
// git.
func (r *Repository) Trees() (list []Tree, err error) {
	admin := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(admin)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		t := Tree{gitDir: filepath.Join(admin, e.Name())}
		at := line(filepath.Join(t.gitDir, "gitdir"))
		if t.Path = filepath.Dir(at); filepath.Dir(t.Path) != filepath.Join(r.Root, inside) {
			continue
		}
		t.Name = filepath.Base(t.Path)
		head, _ := disk.Read(filepath.Join(t.gitDir, "HEAD"), mostConfig)
		t.head = strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: ")
		t.Branch = strings.TrimPrefix(t.head, "refs/heads/")
		if t.Branch == t.head {
			t.Branch = ""
		}
		_, err := os.Lstat(t.Path)
		t.Missing = errors.Is(err, fs.ErrNotExist)
		_, err = os.Lstat(filepath.Join(t.gitDir, "locked"))
		t.Locked = err == nil
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Tree) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Tree returns the tree with a name.
func (r *Repository) Tree(name string) (Tree, error) {
	list, err := r.Trees()
	if err != nil {
		return Tree{}, err
	}
	if i := slices.IndexFunc(list, func(t Tree) bool { return t.Name == name }); i >= 0 {
		return list[i], nil
	}
	advice := "gemline worktree list lists them"
	if len(list) == 0 {
		advice = "there is none; gemline -w NAME makes one"
	}
	return Tree{}, &Error{Message: fmt.Sprintf("there is no worktree %.60q of %s", name,
		text.PrintableLine(r.Root)), Advice: advice, Unknown: true}
}

// Work is the work in a tree that exists nowhere else. The zero Work means no work.
type Work struct {
	Changed int    `json:"changed"`           // files with uncommitted changes
	Commits int    `json:"commits"`           // commits that are on no other branch, tag or remote
	Going   string `json:"going,omitempty"`   // the unfinished operation of git
	Unknown string `json:"unknown,omitempty"` // why the work is unknown
}

// none reports whether a tree has no work.
func (w Work) none() bool { return w == Work{} }

// String names the work, "" for none.
func (w Work) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{w.Changed, "file%s not committed"}, {w.Commits, "commit%s that nothing else has"}} {
		plural := "s"
		if c.n == 1 {
			plural = ""
		}
		if c.n > 0 {
			parts = append(parts, text.Number(c.n)+" "+fmt.Sprintf(c.what, plural))
		}
	}
	if w.Going != "" {
		parts = append(parts, w.Going+" goes on")
	}
	if w.Unknown != "" {
		parts = append(parts, "unknown: "+w.Unknown)
	}
	return strings.Join(parts, ", ")
}

// going maps files to unfinished operations of git.
var going = []struct{ file, what string }{
	{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisect"},
}

// Work determines the work in a tree that exists nowhere else.
func (r *Repository) Work(ctx context.Context, t Tree) (w Work, err error) {
	for _, g := range going {
		if _, err := os.Lstat(filepath.Join(t.gitDir, g.file)); err == nil && w.Going == "" {
			w.Going = g.what
		}
	}
	if _, err := os.Lstat(filepath.Join(t.gitDir, "modules")); err == nil {
		w.Unknown = "it has submodules, which were not looked into"
	}
	if !t.Missing {
		if _, kept, _ := FindTree(t.Path); !slices.Equal(kept, []string{t.gitDir, r.common}) {
			w.Unknown = "its .git does not lead to the repository"
			return w, nil
		}
		out, err := r.git(ctx, t.gitDir, t.Path, false, "--work-tree="+t.Path, "status",
			"--porcelain", "--untracked-files=normal", "--ignore-submodules=all")
		if err != nil {
			return unknown(ctx, w, err)
		}
		w.Changed = strings.Count(out, "\n")
		if out != "" && !strings.HasSuffix(out, "\n") {
			w.Changed++
		}
	}
	own := "refs/heads/" + branchOf(t.Name)
	revs := []string{"rev-list", "--count", "--ignore-missing", own, t.head, "--not",
		"--exclude=" + branchOf(t.Name), "--branches", "--tags", "--remotes"}
	out, err := r.git(ctx, r.common, r.Root, false, revs...)
	if err == nil {
		w.Commits, err = strconv.Atoi(strings.TrimSpace(out))
	}
	if err != nil {
		return unknown(ctx, w, err)
	}
	return w, nil
}

// unknown returns w as unknown because of err, or the error of a context that is
// done.
func unknown(ctx context.Context, w Work, err error) (Work, error) {
	w.Unknown = err.Error()
	return w, ctx.Err()
}

// CheckRemovable returns why the removal of a tree requires force, nil if it does not.
func (r *Repository) CheckRemovable(ctx context.Context, t Tree) error {
	w, err := r.Work(ctx, t)
	switch {
	case err != nil:
		return err
	case !w.none():
		return &Error{Message: fmt.Sprintf("the worktree %s stays: %s", t.Name, w),
			Advice: "commit and push it, or lose it with gemline worktree remove --force " + t.Name}
	case t.Locked:
		return &Error{Message: fmt.Sprintf("the worktree %s stays: it is locked", t.Name),
			Advice: "git worktree unlock " + t.Path}
	}
	return nil
}

// Remove removes a tree and the branch that was made for it. A tree that
// [Repository.CheckRemovable] refuses is removed only with force.
func (r *Repository) Remove(ctx context.Context, t Tree, force bool) error {
	args := []string{"worktree", "remove", t.Path}
	if force {
		args = []string{"worktree", "remove", "--force", "--force", t.Path} // the second --force overrides locks
	} else if err := r.CheckRemovable(ctx, t); err != nil {
		return err
	}
	if _, err := r.git(ctx, r.common, r.Root, true, args...); err != nil {
		return err
	}
	own := branchOf(t.Name)
	if out, err := r.git(ctx, r.common, r.Root, false, "for-each-ref", "--format=%(refname)",
		"refs/heads/"+own); err != nil || out == "" {
		return err
	}
	if _, err := r.git(ctx, r.common, r.Root, true, "branch", "--quiet", "-D", own); err != nil {
		return &Error{Message: fmt.Sprintf("the worktree %s is removed, and its branch is not: %v", t.Name, err)}
	}
	return nil
}
