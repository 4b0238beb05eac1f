package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/memory"
)

func directory() *Command {
	return &Command{Name: "directory", Usual: true, Aliases: []string{"dir"},
		Summary: "the directories the model may work in", Run: showDirectories, Sub: Set{
			{Name: "show", Summary: "list the directories", Run: showDirectories},
			{Name: "add", Args: "PATH[,PATH ...]", Summary: "let the model work in more directories", Run: addDirectories},
		}}
}

func showDirectories(_ context.Context, app *App, _ string) error {
	ls := []string{"Current workspace directories:"}
	for _, root := range app.Workspace.Roots() {
		ls = append(ls, "- "+root)
	}
	return sentences(app.Out, ls...)
}

// addDirectories tells the model too, or it would not know where to look, and
// has the context files of the directories count from now on.
func addDirectories(ctx context.Context, app *App, args string) error {
	before := app.Memory.Contents().Files
	roots := app.Workspace.Roots()
	var failed error
	named := false
	for _, dir := range strings.Split(args, ",") {
		if dir = strings.TrimSpace(dir); dir == "" {
			continue
		}
		named = true
		if err := app.Workspace.Add(disk.Absolute(dir, app.Workspace.Roots()[0], app.Home)); err != nil {
			failed = errors.Join(failed, addError(dir, err))
		}
	}
	if !named {
		return misused("which directory? /directory add PATH")
	}
	added := app.Workspace.Roots()[len(roots):]
	if len(added) == 0 {
		if failed == nil {
			return sentences(app.Out, "nothing to add: the model may work there already")
		}
		return failed
	}
	if err := sentences(app.Out, append([]string{"added: " + strings.Join(added, ", ")},
		loadContext(app, before, added)...)...); err != nil {
		return err
	}
	note := engine.Note("The user added these workspace directories: " + strings.Join(added, ", "))
	if err := app.Engine.Add(ctx, note); err != nil {
		return err
	}
	app.Engine.Reopen(ctx)
	return errors.Join(failed, app.Directories(app.Workspace.Roots()[1:]))
}

// loadContext reads the context files again and says which of them came with the
// directories that were added, or why none did.
func loadContext(app *App, before []memory.File, added []string) (ls []string) {
	for _, f := range app.Memory.Reload().Files {
		known := func(o memory.File) bool { return o.Path == f.Path }
		if f.Tier == memory.Project && !slices.ContainsFunc(before, known) {
			ls = append(ls, "context file: "+f.Path)
		}
	}
	for _, dir := range added {
		if !app.Memory.Trusts(dir) {
			ls = append(ls, dir+": its context files are not used: this directory or the session's folder is not trusted")
		}
	}
	return ls
}

// addError says why the model may not work in dir, which is as it was typed.
func addError(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such directory", dir)
	}
	return fmt.Errorf("%s: %w", dir, disk.Cause(err))
}
