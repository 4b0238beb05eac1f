package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/shell/script"
)

// changedByGit returns the files that git commands of the line would change in the work tree, and
// that a confined command can't write to. Git would leave the work tree half changed, and some
// commands of git report success then.
func changedByGit(ctx context.Context, c shellCall) (paths []string) {
	var text string
	for _, command := range c.read.Commands {
		if name, known := command.Program(); known && name == "git" {
			text += changedPaths(command)
		}
	}
	if text == "" || !c.canRunReadOnly() {
		return nil
	}
	c.git = gitUse{dirs: gitDirs(c.read, c.dir)}
	look, why := c.readOnlyView()
	if why != "" {
		return nil
	}
	for _, dir := range c.git.dirs {
		o := c.env.Launcher.Run(ctx, launch.Command{Dir: dir, ReadOnly: look, SplitStderr: true, Limit: launch.Limit{Timeout: longest},
			Text: `top=$(git rev-parse --show-toplevel) && cd "$top" && echo "$top" && {` + text + "\n}"})
		top, changed, _ := strings.Cut(o.Output, "\n")
		for name := range strings.Lines(changed) {
			paths = append(paths, filepath.Join(top, strings.TrimSuffix(name, "\n")))
		}
	}
	return c.env.Launcher.Unwritable(paths)
}

// changedPaths returns a script that lists the paths that a git command would change, from the top
// of the work tree: paths that differ between HEAD and the named commits, or from HEAD.
func changedPaths(command engine.Command) string {
	words := command.Words()[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if strings.EqualFold(words[0], "-c") && len(words) > 1 { // -C DIR, -c NAME=VALUE
			words = words[1:]
		}
		words = words[1:]
	}
	if len(words) == 0 || !slices.Contains(treeChanging, words[0]) {
		return ""
	}
	sub, words := words[0], words[1:]
	var names []string
	options, paths := " ", false
	for _, w := range words {
		switch {
		case w == "--":
			paths = true
		case paths:
		case w == "-":
			names = append(names, "@{-1}")
		case strings.HasPrefix(w, "-"):
			options += w + " "
		default:
			names = append(names, w)
		}
	}
	local := sub == "restore" || sub == "stash" || paths || strings.Contains(options, " --hard ") ||
		strings.Contains(options, " -f ") || strings.Contains(options, " --force ")
	find, list := "git rev-parse -q --verify %s", ` git -c core.quotePath=false diff-tree -r --name-only HEAD "$c"`
	switch sub {
	case "stash":
		switch action := append(names, "push")[0]; action {
		case "push", "save":
			names = nil
		case "pop", "apply", "branch":
			names = append(names, "stash@{0}")
		default:
			return ""
		}
	case "merge", "pull":
		list = ` git -c core.quotePath=false diff --name-only HEAD..."$c"`
		fallthrough
	case "rebase":
		if len(names) == 0 {
			names = append(names, "@{upstream}")
		}
	case "cherry-pick", "revert":
		find, list = "git rev-list --no-walk %s", ` git -c core.quotePath=false diff-tree -r --no-commit-id --name-only --root "$c"`
	case "reset":
		if !local {
			return ""
		}
	}
	text := ""
	if local {
		// The view hides files, which look deleted. Without a refresh, unchanged files may be listed.
		text = "\ngit -c core.quotePath=false -c diff.autoRefreshIndex=true diff --name-only --diff-filter=d HEAD"
	}
	for _, name := range names {
		text += "\nfor c in $(" + fmt.Sprintf(find, script.Quote(name)) + " || git for-each-ref --format='%(objectname)' " +
			script.Quote("refs/remotes/*/"+name) + "); do" + list + "; done"
	}
	return text
}

// treeChanging are the commands of git that write files of commits into the work tree.
var treeChanging = strings.Fields("checkout switch restore reset stash merge pull rebase cherry-pick revert")
