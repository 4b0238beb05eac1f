package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/memory"
)

// directoryCommands are about the directories of the workspace.
type directoryCommands struct {
	c    *Conversation
	out  io.Writer
	home string
}

func (cmd directoryCommands) set() Set {
	return Set{{Name: "directory", Usual: true, Aliases: []string{"dir"},
		Summary: "the directories the model may work in", Run: cmd.showDirectories, Sub: Set{
			{Name: "show", Summary: "list the directories", Run: cmd.showDirectories},
			{Name: "add", Args: "PATH[,PATH ...]", Summary: "let the model work in more directories", Run: cmd.addDirectories},
		}}}
}

func (cmd directoryCommands) showDirectories(_ context.Context, _ string) error {
	roots := lists.Map(cmd.c.Workspace.Roots(), func(root string) string { return "- " + root })
	return sentences(cmd.out, append([]string{"Current workspace directories:"}, roots...)...)
}

// addDirectories also tells the model about the directories, which it could not find otherwise, and
// loads their context files.
func (cmd directoryCommands) addDirectories(ctx context.Context, args string) error {
	before := cmd.c.Memory.Contents().Files
	roots := cmd.c.Workspace.Roots()
	var failed error
	named := false
	for _, dir := range strings.Split(args, ",") {
		if dir = strings.TrimSpace(dir); dir == "" {
			continue
		}
		named = true
		if err := cmd.c.Workspace.Add(disk.Absolute(dir, cmd.c.Workspace.Roots()[0], cmd.home)); err != nil {
			failed = errors.Join(failed, addError(dir, err))
		}
	}
	if !named {
		return misused("which directory? /directory add PATH")
	}
	added := cmd.c.Workspace.Roots()[len(roots):]
	if len(added) == 0 {
		if failed == nil {
			return sentences(cmd.out, "nothing to add: the model may work there already")
		}
		return failed
	}
	if err := sentences(cmd.out, append([]string{"added: " + strings.Join(added, ", ")},
		cmd.loadContext(before, added)...)...); err != nil {
		return err
	}
	note := engine.Note("The user added these workspace directories: " + strings.Join(added, ", "))
	if err := cmd.c.Engine.Add(ctx, note); err != nil {
		return err
	}
	cmd.c.Engine.RefreshOpening(ctx)
	return errors.Join(failed, cmd.c.Directories(cmd.c.Workspace.Roots()[1:]))
}

// loadContext reads the context files again. It names the files that the added directories brought,
// or says why they brought none.
func (cmd directoryCommands) loadContext(before []memory.File, added []string) (ls []string) {
	for _, f := range cmd.c.Memory.Update().Files {
		known := func(o memory.File) bool { return o.Path == f.Path }
		if f.Tier == memory.Project && !slices.ContainsFunc(before, known) {
			ls = append(ls, "context file: "+f.Path)
		}
	}
	for _, dir := range added {
		if !cmd.c.Memory.Trusts(dir) {
			ls = append(ls, dir+": its context files are not used: this directory or the session's folder is not trusted")
		}
	}
	return ls
}

// addError says why the model may not work in dir, which is spelled as the user typed it.
func addError(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such directory", dir)
	}
	return fmt.Errorf("%s: %w", dir, disk.Cause(err))
}
