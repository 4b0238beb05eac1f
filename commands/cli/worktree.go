package cli

import (
	"cmp"
	"context"
	"fmt"

	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/repl/input"
	"gemline/settings/project"
	"gemline/tools/worktree"
)

// worktreeCommand is gemline worktree.
type worktreeCommand struct {
	List   worktreeList   `cmd:"" default:"withargs" help:"List the worktrees of this repository, and what in them is nowhere else."`
	Remove worktreeRemove `cmd:"" help:"Remove a worktree and its branch."`
	Prune  worktreePrune  `cmd:"" help:"Remove those in which nothing is that is nowhere else."`
}

// ProvideRepository returns the repository of the working directory.
func (*worktreeCommand) ProvideRepository(here *Folder, project Project) (*worktree.Repository, error) {
	l, err := project.Launcher()
	if err != nil {
		return nil, err
	}
	return worktree.Open(here.Paths.Cwd, l)
}

// inUse returns an error if a tree is known to be in use.
func inUse(paths project.Paths, t worktree.Tree) error {
	if disk.Inside(t.Path, disk.ResolveLinks(paths.Cwd)) {
		return &input.Error{Message: fmt.Sprintf("the worktree %s stays: you are in it", t.Name),
			Advice: "go to another directory first"}
	}
	store, known := project.Paths{Home: paths.Home, Cwd: t.Path}.Registered()
	if !known {
		return nil
	}
	return journal.InUse(store.Chats())
}

// A treeRecord is a worktree in the list, with its content that exists nowhere else.
type treeRecord struct {
	worktree.Tree
	worktree.Work
}

// A keptTree is a worktree that was not removed.
type keptTree struct {
	worktree.Tree
	Why string `json:"why"`
}

// lines returns the tree as text.
func (t treeRecord) lines() []string {
	on, state := cmp.Or(t.Branch, "no branch"), cmp.Or(t.Work.String(), "nothing that is nowhere else")
	if t.Locked {
		state += "; locked"
	}
	if t.Missing {
		state = "its directory is gone; " + state
	}
	return []string{fmt.Sprintf("%s (%s): %s", t.Name, on, state), "  " + t.Path}
}

type worktreeList struct{}

// Run prints the worktrees, sorted by name.
func (*worktreeList) Run(ctx context.Context, out *Output, r *worktree.Repository) error {
	list, err := r.Trees()
	if err != nil {
		return err
	}
	var all []treeRecord
	for _, t := range list {
		work, err := r.Work(ctx, t)
		if err != nil {
			return err
		}
		all = append(all, treeRecord{t, work})
	}
	l := listingOf("worktrees", all)
	l.doc["repository"] = r.Root
	return out.list(l, "there is no worktree; gemline -w NAME makes one")
}

type worktreeRemove struct {
	Name  string `arg:"" complete:"worktree" help:"The name of a worktree."`
	Force bool   `help:"Remove it with changes that are nowhere else."`
}

// Run removes the worktree.
func (c *worktreeRemove) Run(ctx context.Context, out *Output, here *Folder, r *worktree.Repository) error {
	t, err := r.Tree(c.Name)
	if err == nil {
		err = inUse(here.Paths, t)
	}
	if err == nil {
		err = r.Remove(ctx, t, c.Force)
	}
	if err != nil {
		return err
	}
	return out.show(map[string]any{"removed": []worktree.Tree{t}}, "removed: "+t.Path)
}

type worktreePrune struct {
	DryRun bool `help:"Say what would be removed, and remove nothing."`
}

// Run removes the trees that can be removed.
func (c *worktreePrune) Run(ctx context.Context, out *Output, here *Folder, r *worktree.Repository) error {
	list, err := r.Trees()
	if err != nil {
		return err
	}
	var removed []worktree.Tree
	var kept []keptTree
	var lines []string
	for _, t := range list {
		why := inUse(here.Paths, t)
		if why == nil && c.DryRun {
			why = r.CheckRemovable(ctx, t)
		} else if why == nil {
			why = r.Remove(ctx, t, false)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if why != nil {
			kept, lines = append(kept, keptTree{t, why.Error()}), append(lines, why.Error())
			continue
		}
		said := "removed: "
		if c.DryRun {
			said = "would be removed: "
		}
		removed, lines = append(removed, t), append(lines, said+t.Path)
	}
	return out.listing(map[string]any{"removed": removed, "kept": kept, "dry_run": c.DryRun}, lines,
		"there is no worktree")
}
