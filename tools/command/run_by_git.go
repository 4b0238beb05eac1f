package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/gitconfig"
	"gemline/tools/launch"
	"gemline/tools/shell/script"
	"gemline/tools/worktree"
)

// programSettings matches the settings by which git runs a program when it adds to a
// repository, in any configuration, and diffPrograms the settings by which it runs a program when
// it shows contents of files.
const (
	programSettings = `filter\..*\.(clean|smudge|process)|merge\..*\.driver|hook\..*\.command|core\.fsmonitor`
	diffPrograms    = `|diff\.external|diff\..*\.(command|textconv)`
)

// executes matches a line of a rebase's todo list that runs a program.
var executes = text.Pattern(`(?m)^\s*(x|exec)\s`)

// runByGit returns the program, beside itself, that git runs for a line in dir that adds to
// repositories, "" for none. Such a program may be a file of the project, and can change the
// repository in any way.
func (env Tools) runByGit(ctx context.Context, read script.Script, dir string) string {
	settings := programSettings
	if slices.ContainsFunc(read.Commands, showsContents) {
		settings += diffPrograms
	}
	for _, dir := range gitDirs(read, dir) {
		tree, kept, why := worktree.FindTree(dir)
		switch {
		case why != "":
			return why
		case tree == "":
			continue
		}
		for _, file := range configurations(kept[len(kept)-1]) {
			b, err := disk.Read(file, mostConfig)
			why := gitconfig.FirstUnsafe(string(b), gitconfig.Entry.IdleAdding)
			if err != nil {
				why = "can't be read"
			}
			if why != "" {
				return "the repository's configuration " + why + ", so git may run a program"
			}
		}
		if todo, _ := os.ReadFile(filepath.Join(kept[0], "rebase-merge/git-rebase-todo")); executes().Match(todo) {
			return "the rebase that is under way runs programs"
		}
		o := env.Launcher.Run(ctx, launch.Command{Dir: dir, KillLeftovers: true, SplitStderr: true, Limit: launch.Limit{Timeout: longest},
			Text: "git rev-parse --git-path hooks && { git config --get-regexp '^(" + settings + ")$' || [ $? = 1 ]; }"})
		hooks, set, _ := strings.Cut(o.Output, "\n")
		if !o.OK() || o.Cut {
			return "git does not tell which programs it would run"
		}
		for line := range strings.Lines(set) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			section, rest, _ := strings.Cut(key, ".")
			at := strings.LastIndex(rest, ".")
			e := gitconfig.Entry{Section: section, Name: rest[:max(0, at)], Key: rest[at+1:], Value: value}
			if value != "true" && !e.Harmless() {
				return "git may run the program that the setting " + brief(key) + " names"
			}
		}
		if why := env.hook(read, disk.ResolveLinks(disk.Absolute(hooks, dir, ""))); why != "" {
			return why
		}
	}
	return ""
}

// Hooks by git command. All commands that add to a repository run the hooks in always, and
// none runs the hooks in notAdding. Of other hooks, the commands in withoutHook run none, and
// the commands in checkingOut only post-checkout.
var (
	always      = strings.Fields("post-index-change reference-transaction")
	notAdding   = text.Pattern(`\.|push|receive|update|^sendemail-|^p4-|^fsmonitor-`)
	withoutHook = strings.Fields("add stage mv rm reset branch tag stash")
	checkingOut = strings.Fields("checkout switch restore")
)

// hook returns the hook in dir that git runs for the line, "" for none.
func (env Tools) hook(read script.Script, dir string) string {
	lacks, err := env.Launcher.ExtraRights(engine.Rights{Write: []string{dir}}, dir)
	open := err != nil || lacks.Empty()
	entries, _ := os.ReadDir(dir)
	for _, command := range read.Commands {
		if command.Safe {
			continue
		}
		sub, p, words := subcommand(command)
		if open && sub != "add" { // a checkout may bring the hook
			return "git runs hooks in " + text.Name(env.Workspace.Rel(dir)) + ", where commands can write"
		}
		for _, e := range entries {
			name, path := e.Name(), filepath.Join(dir, e.Name())
			switch info, err := os.Stat(path); {
			case err != nil || info.Mode()&0o111 == 0 || notAdding().MatchString(name):
				continue
			case !slices.Contains(always, name) && (p.ReadsAt(words) || slices.Contains(withoutHook, sub) || slices.Contains(checkingOut, sub) && name != "post-checkout"):
				continue
			}
			if b, err := disk.Read(path, mostConfig); err != nil || !gitconfig.IsLFSHook(name, string(b)) {
				return "git runs the hook " + text.Name(env.Workspace.Rel(path))
			}
		}
	}
	return ""
}
