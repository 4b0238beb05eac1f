package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/engine/text"
	"gemline/tools/gitconfig"
	"gemline/tools/launch"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
	"gemline/tools/worktree"
)

// A gitUse describes a line's use of git.
type gitUse struct {
	dirs  []string // possible working directories of git; nil if git does not run
	shows bool     // it shows contents of files in commits
	names []string // words that may name git objects
}

var (
	// quiet matches words with which a list of commits shows no contents.
	quiet = text.Pattern(`^(-[0-9]+|-n[0-9]*|-s|-b|-sb|-u(no|all|normal)|--oneline|--graph|--all|--decorate|--stat|--name-only|--name-status|--shortstat|--short|--branch|--reverse|--no-merges|--porcelain(=.*)?|--(format|pretty|since|until|author|grep|max-count)=.*|[^-].*)$`)
	// unlisted matches options with which git may show other contents: of another
	// repository, or of objects named by its input.
	unlisted = text.Pattern(`^--(sub|rec|batch)|submodule=|\(\*?raw\b`)
	// steady matches words whose beginning the shell does not expand, so that they are no
	// options.
	steady = text.Pattern("^[A-Za-z0-9_./][^$`]*$")
	// plainKey matches settings without passwords, except in addresses, which are checked.
	plainKey = text.Pattern(`^(?i:alias|branch|color|commit|core|diff|fetch|init|log|merge|pull|push|` +
		`rebase|remote|status|submodule|tag|user)\.[^=]*$`)
	// object matches a possible name of an object.
	object = text.Pattern(`[0-9A-Za-z_][0-9A-Za-z_/.@{}-]*`)
	// filePattern matches patterns that match files and name no object.
	filePattern = text.Pattern(`^[^$:^@]*(/[^$:^@]*|\.[a-z]*[g-z*][a-z]*)$`)
	// spoken matches options whose value is a text, a date or a pattern, and no file. Some
	// commands have such options -S and -G, too.
	spoken = text.Pattern(`^--(grep|grep-reflog|author|committer|date|since|until|after|before|format|pretty|word-diff-regex|line-prefix|src-prefix|dst-prefix)=`)
	// token matches settings that may hold a token or a password.
	token = text.Pattern(`(?i)extraheader|(pass|password|secret|token)\s*=`)
	// password matches an address with a password, or with a possible token.
	password = text.Pattern(`://([^/@\s"]*:[^/@\s"]+|[^/@\s":]{20,})@`)
)

// command returns why a git command is not read-only, "" if it is.
func (g *gitUse) command(l *readOnlyCheck, args []engine.Word) string {
	dirs := l.dirs
	for ; len(args) > 0 && strings.HasPrefix(args[0].Text, "-"); args = args[1:] {
		switch quick := []string{"--no-pager", "-P", "--no-optional-locks", "--version"}; {
		case args[0].Text == "-C" && len(args) > 1 && args[1].Known:
			if dirs = l.below(dirs, args[1].Text); dirs == nil {
				return "it works out of the project"
			}
			args = args[1:]
		case !slices.Contains(quick, args[0].Text):
			return brief(args[0].Text) + " is not on the list"
		}
	}
	if len(args) == 0 {
		return ""
	}
	sub, rest := args[0].Text, args[1:]
	var words []string
	for _, w := range rest {
		words = append(words, w.Text)
	}
	speaks := func(word string) bool { return !quiet().MatchString(word) }
	p, _ := program.Find("git").Command(sub)
	shows, lists := p.LooksAt(words), p.ListsAt(words)
	if !shows && !lists {
		return brief(strings.Join(append([]string{sub}, words[:min(1, len(words))]...), " ")) + " is not on the list"
	}
	if sub == "config" && strings.HasPrefix(slices.Concat(words, []string{""})[0], "-") &&
		(len(words) != 2 || !rest[1].Known || !plainKey().MatchString(words[1])) {
		return "which settings it shows is not on the list"
	}
	if p.RecordsAt(words) {
		return "it adds to the repository"
	}
	shows = shows && !(lists && !slices.ContainsFunc(words, speaks))
	for _, w := range rest {
		looksFor := slices.Contains([]string{"log", "show", "diff"}, sub) && (strings.HasPrefix(w.Text, "-S") || strings.HasPrefix(w.Text, "-G"))
		if why := l.option(dirs, w); why != "" && !looksFor && !spoken().MatchString(w.Text) {
			return why
		}
		switch {
		case unlisted().MatchString(w.Text), shows && w.Text == "--stdin":
			return brief(w.Text) + " is not on the list"
		case shows && !w.Known && (strings.Contains(w.Text, "..") || !filePattern().MatchString(w.Text)):
			return "its output is known only when it runs"
		case lists && !shows && !w.Known && !steady().MatchString(w.Text):
			return "its list is known only when it runs"
		case shows:
			g.names = append(g.names, objects(w.Text)...)
		}
	}
	g.shows = g.shows || shows
	for _, dir := range dirs {
		if why := once(l.repositories, dir, l.repository); why != "" {
			return why
		}
		if !slices.Contains(g.dirs, dir) {
			g.dirs = append(g.dirs, dir)
		}
	}
	return ""
}

// mostPath is how long a path may be, in bytes.
const mostPath = 4096

// option returns why a file that may be named at the end of a git option can't be read without
// approval, as in --contents=.git/config or -lS.git/config; "" if there is none.
func (l *readOnlyCheck) option(dirs []string, w engine.Word) string {
	if !w.Known || !strings.HasPrefix(w.Text, "-") {
		return ""
	}
	for i := max(2, len(w.Text)-mostPath); i < len(w.Text); i++ {
		for _, dir := range dirs {
			if why := l.path(l.at(dir, w.Text[i:]), w.Text[i:]); why != "" {
				return why
			}
		}
	}
	return ""
}

// showing returns the use of git by a line that is not confined to read-only, if a command may
// show the contents of files in commits.
func showing(c shellCall) (g gitUse) {
	if slices.ContainsFunc(c.read.Commands, showsContents) {
		g = gitUse{dirs: gitDirs(c.read, c.dir), shows: true, names: objects(c.args.Command)}
	}
	return g
}

// showsContents reports whether a command of git may show the contents of files.
func showsContents(command engine.Command) bool {
	name, _ := command.Program()
	return name == "git" && !harmless(command.Words()[1:])
}

// gitDirs returns the directories in which git may run for a line in dir. A cd may fail.
func gitDirs(read script.Script, dir string) []string {
	from, dirs := []string{dir}, []string{dir}
	for _, command := range read.Commands {
		name, _ := command.Program()
		words := command.Words()
		to := slices.Clone(from)
		for i := 1; i < len(words) && (name == "git" && strings.HasPrefix(words[i], "-") || name == "cd"); i++ {
			switch {
			case name == "cd":
				i = len(words) - 1
			case words[i] == "-C" && i+1 < len(words):
				i++
			default:
				continue
			}
			for j := range to {
				to[j] = filepath.Clean(disk.Absolute(words[i], to[j], ""))
			}
		}
		if name == "cd" && len(from) <= mostDirs {
			from = append(from, to...)
		}
		dirs = append(dirs, to...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// harmless reports whether a command of git adds to a repository or lists its parts,
// and shows no contents of files.
func harmless(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[min(len(words), 1+strings.Count(words[0], "C")):]
	}
	if len(words) == 0 {
		return true
	}
	p, _ := program.Find("git").Command(words[0])
	words = words[1:]
	speaks := func(word string) bool { return !quiet().MatchString(word) }
	switch {
	case p.LooksAt(words):
		return p.ListsAt(words) && !slices.ContainsFunc(words, speaks)
	case p.ListsAt(words):
		return true
	}
	return p.RecordsAt(words) && !slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"-p", "--patch", "-i", "-v", "--verbose", "-e"}, w)
	})
}

// objects returns the possible names of git objects in a text.
func objects(text string) (names []string) {
	for _, name := range object().FindAllString(text, -1) {
		names = append(names, strings.Split(name, "..")...)
	}
	return names
}

// mostConfig limits the bytes read of a configuration of git. Real configurations are
// smaller.
const mostConfig = 1 << 20

// repository returns why the repository of a directory can't be read without approval, "" if
// it can or there is none.
func (l *readOnlyCheck) repository(dir string) string {
	tree, kept, why := worktree.FindTree(dir)
	switch {
	case why != "" || tree == "":
		return why
	case !l.inside(tree) && slices.ContainsFunc([]string{l.c.env.variable("HOME"), "/"}, func(home string) bool { return home != "" && disk.Inside(tree, disk.ResolveLinks(home)) }):
		return "the repository is that of a directory with more in it: " + brief(tree)
	}
	for _, file := range []string{filepath.Join(kept[len(kept)-1], "config"), filepath.Join(kept[0], "config.worktree")} {
		if why := configuration(file, l.c.reads()); why != "" {
			return why
		}
	}
	return ""
}

// configuration returns why commands need approval to show a repository's configuration file.
// Git shows the addresses in it; commands that read the file show all of it.
func configuration(file string, read bool) string {
	switch text, err := disk.Read(file, mostConfig); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "the repository's configuration can't be read"
	case password().Match(text):
		return "an address in the repository's configuration holds a password"
	case read && token().Match(text):
		return "the repository's configuration may hold a token"
	}
	return ""
}

// configurations returns the configuration files of the repository in a git directory, of its
// modules and of its worktrees.
func configurations(dir string) (files []string) {
	for _, name := range []string{"config", "config.worktree", "modules", "worktrees"} {
		filepath.WalkDir(filepath.Join(dir, name), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
			case !e.IsDir() && strings.HasPrefix(e.Name(), "config"):
				files = append(files, path)
			case e.IsDir() && e.Name() == "objects":
				if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "HEAD")); err == nil {
					return fs.SkipDir // of a module, and large
				}
			}
			return nil
		})
	}
	return files
}

// reads reports whether a command may read files in a repository's git directory by another
// program than git. A pattern may name any file there.
func (c *shellCall) reads() bool {
	return c.args.ReadOnly || slices.ContainsFunc(c.read.Commands, func(c engine.Command) bool {
		name, _ := c.Program()
		return !slices.Contains([]string{"git", "cd", "head", "tail"}, name) ||
			slices.ContainsFunc(c.Argv, func(w engine.Word) bool { return !w.Known })
	})
}

// environment returns env with settings that prevent git from running programs named by a
// repository's configuration, and from writing.
func (g gitUse) environment(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), gitconfig.IsConfigVariable)
	return append(env, gitconfig.Environ(append(gitSettings, gitconfig.QuietArgs...)...)...)
}

// gitSettings are settings in addition to QuietArgs. Repositories of other users are safe, as
// the command is read-only.
var gitSettings = strings.Fields("safe.directory=* core.attributesFile=/dev/null diff.submodule=short diff.ignoreSubmodules=dirty diff.autoRefreshIndex=false")

// longest is the time limit of a search for secrets in a repository. If the search takes
// longer, the user is asked.
const longest = 3 * time.Second

// committed returns why the command may show committed secrets, "" if there are none in the
// shown repositories. Files in packs can't be hidden.
func (c shellCall) committed(ctx context.Context, look *launch.ReadOnlyView) (why string) {
	for _, dir := range c.git.dirs {
		_, kept, _ := worktree.FindTree(dir)
		for _, text := range []string{reachable, pointed(c.git.names)} {
			if why = c.known.search(kept, text,
				func() (string, bool) { return c.env.search(ctx, text, dir, look) }); why != "" {
				return why
			}
		}
	}
	return ""
}

// reachable lists the files of all commits that are reachable in the repository, and the types
// of the objects that refs name.
const reachable = "git for-each-ref --format='ref %(objecttype) %(*objecttype)' && git rev-list --objects --all --reflog --indexed-objects --missing=allow-any"

// pointed returns a script that lists the files of commits that are reachable only by the given
// names, or by the refs of an unfinished merge, cherry-pick, revert or rebase.
func pointed(names []string) string {
	var text strings.Builder
	for _, name := range append(slices.Clone(names), "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD") {
		text.WriteString(" '" + name + "' '" + name + "^{}'")
	}
	return "printf '%s\\n'" + text.String() +
		" | git cat-file --batch-check='object %(objecttype) %(objectname)' | tee /dev/stderr |" +
		" sed -n 's/^object commit //p' | git rev-list --objects --missing=allow-any --stdin --not --all --reflog"
}

// search returns why the output of a script shows possible secrets in the repository of a
// directory, and whether the result is sure, so that it can be cached.
func (env Tools) search(ctx context.Context, text, dir string, look *launch.ReadOnlyView) (why string, sure bool) {
	rest := ""
	cmd := launch.Command{Text: "git rev-parse --git-dir >/dev/null || exit 77; " + text, Dir: dir,
		ReadOnly: look, Limit: launch.Limit{Timeout: longest}, Output: func(s string) {
			rest += s
			for line, after, ok := strings.Cut(rest, "\n"); ok && why == ""; line, after, ok = strings.Cut(rest, "\n") {
				rest = after
				first, path, _ := strings.Cut(strings.TrimSpace(line), " ")
				kind, _, _ := strings.Cut(path, " ")
				switch {
				case first == "object" && (kind == "blob" || kind == "tree"), path == "ambiguous",
					first == "ref" && path != "commit" && path != "tag commit":
					why = "it may show what may hold secrets, by its number"
				case secret.Path(path):
					why = "it may show committed secrets: " + script.Quote(path)
				}
			}
		}}
	o := env.Launcher.Run(ctx, cmd)
	switch {
	case why != "", o.OK(), o.Code == 77:
		return why, !o.Cancelled
	case o.Limit > 0:
		return "it may show committed secrets: the history is too long to tell", true
	}
	return "it may show committed secrets: the history can't be read", false
}
