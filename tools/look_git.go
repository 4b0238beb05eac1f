package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/tools/shell"
	"gemline/tools/shell/script"
)

// A gitUse is what a line does with git.
type gitUse struct {
	dirs  []string // where git may run; nil if it does not
	shows bool     // the contents of files in commits
	words []string // that may be numbers of objects
}

// The commands of git that look: with names, those that show none of the
// contents of files, with shows, the others. Behind a point stand the first
// words of those that do other things, too.
var (
	gitNames = strings.Fields("status log reflog branch tag remote remote.-v remote.get-url rev-parse rev-list ls-files ls-tree describe shortlog merge-base name-rev" +
		" show-ref for-each-ref check-ignore check-attr count-objects version stash.list worktree.list submodule.status")
	gitShows = strings.Fields("status log reflog diff show blame annotate grep cat-file diff-tree diff-index diff-files range-diff whatchanged stash.list stash.show")

	// quiet are the words with which a list of commits shows no contents.
	quiet = regexp.MustCompile(`^(-[0-9]+|-n[0-9]*|-s|-b|-sb|-u(no|all|normal)|--oneline|--graph|--all|--decorate|--stat|--name-only|--name-status|--shortstat|--short|--branch|--reverse|--no-merges|--porcelain(=.*)?|--(format|pretty|since|until|author|grep|max-count)=.*|[^-].*)$`)
	// objects finds what may be the number of an object.
	objects = regexp.MustCompile(`[0-9a-fA-F]{4,64}`)
	// header finds what may be a token for a server.
	header = regexp.MustCompile(`(?i)extraheader`)
	// password finds an address with a password, or with what may be a token.
	password = regexp.MustCompile(`://([^/@\s"]*:[^/@\s"]+|[^/@\s":]{20,})@`)
)

// command says what keeps a command of git from looking only.
func (g *gitUse) command(l *looker, args []engine.Word) string {
	for len(args) > 0 && slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks", "--version"}, args[0].Text) {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	sub, rest := args[0].Text, args[1:]
	pair := sub
	if len(rest) > 0 {
		pair += "." + rest[0].Text
	}
	has := func(list []string) bool {
		return slices.Contains(list, pair) || slices.Contains(list, sub) && (sub != "remote" || len(rest) == 0)
	}
	speaks := func(w engine.Word) bool { return !quiet.MatchString(w.Text) }
	switch {
	case !has(gitNames) && !has(gitShows):
		return brief(strings.Replace(pair, ".", " ", 1)) + " is not on the list"
	case has(gitShows) && !(has(gitNames) && !slices.ContainsFunc(rest, speaks)):
		g.shows = true
	}
	for _, w := range rest {
		if strings.Contains(w.Text, "submodule=") || strings.HasPrefix(w.Text, "--recurse") || strings.HasPrefix(w.Text, "--batch") {
			return brief(w.Text) + " is not on the list"
		}
		if g.shows {
			g.words = append(g.words, objects.FindAllString(w.Text, -1)...)
		}
	}
	for _, dir := range l.dirs {
		if why := once(l.repositories, dir, l.repository); why != "" {
			return why
		}
		if !slices.Contains(g.dirs, dir) {
			g.dirs = append(g.dirs, dir)
		}
	}
	return ""
}

// mostConfig is how much of a file that says how git works is read. A larger one
// is none that somebody wrote.
const mostConfig = 1 << 20

// repository says what keeps the repository that git finds from a directory on
// from being read unasked.
func (l *looker) repository(dir string) string {
	tree, kept, why := repository(dir)
	switch {
	case why != "" || tree == "":
		return why
	case !l.inside(tree) && slices.ContainsFunc([]string{l.c.env.variable("HOME"), "/"}, func(home string) bool { return home != "" && disk.Inside(tree, disk.Follow(home)) }):
		return "the repository is that of a directory with more in it: " + brief(tree)
	}
	for _, file := range []string{filepath.Join(kept[len(kept)-1], "config"), filepath.Join(kept[0], "config.worktree")} {
		switch text, err := disk.Read(file, mostConfig); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "the repository's configuration can't be read"
		case password.Match(text):
			return "an address in the repository's configuration holds a password"
		case header.Match(text) && slices.ContainsFunc(l.c.read.Commands, reads):
			return "the repository's configuration may hold a token"
		}
	}
	return ""
}

// reads reports whether a command may read what lies in a repository beside
// what git shows of it.
func reads(c engine.Command) bool {
	name, _ := c.Program()
	return name != "git" && name != "cd" && name != "head" && name != "tail"
}

// repository returns the tree that a directory belongs to, and the directories
// in which git keeps its repository; nothing if there is none.
func repository(dir string) (tree string, kept []string, why string) {
	for dir = disk.Follow(dir); ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir():
			kept = []string{at}
		case err == nil:
			if kept = apart(dir); kept == nil {
				return "", nil, "the repository is kept elsewhere: " + brief(at)
			}
		case dir == filepath.Dir(dir):
			return "", nil, ""
		default:
			continue
		}
		if _, err := os.Lstat(filepath.Join(kept[len(kept)-1], "objects/info/alternates")); err == nil {
			return "", nil, "the repository has objects of another one"
		}
		return dir, kept, ""
	}
}

// apart returns where the repository of a tree is kept that has a file for it:
// with that of the tree it is a module of, or with the one that knows it as one
// of its further trees.
func apart(dir string) []string {
	line := func(path string) string {
		text, _ := disk.Read(path, mostConfig)
		to := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir: "))
		if to != "" && !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		return disk.Follow(filepath.Clean(to))
	}
	own := line(filepath.Join(dir, ".git"))
	if above, _, ok := strings.Cut(own, "/.git/modules/"); ok && disk.Inside(above, dir) {
		return []string{own}
	}
	common := filepath.Dir(filepath.Dir(own))
	if filepath.Base(filepath.Dir(own)) == "worktrees" && filepath.Base(common) == ".git" && line(filepath.Join(own, "gitdir")) == filepath.Join(dir, ".git") && line(filepath.Join(own, "commondir")) == common {
		return []string{own, common}
	}
	return nil
}

// environment returns env with what keeps git from running what a repository's
// configuration names, and from writing.
func (g gitUse) environment(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_CONFIG_COUNT=") || strings.HasPrefix(kv, "GIT_CONFIG_PARAMETERS=")
	})
	for i, set := range gitSettings {
		key, value, _ := strings.Cut(set, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(gitSettings)), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
}

// gitSettings are what git is told beyond its configuration. Whose the
// repository is does not matter to somebody who can only look.
var gitSettings = strings.Fields("safe.bareRepository=explicit safe.directory=* core.fsmonitor=false core.hooksPath=/dev/null core.attributesFile=/dev/null core.pager=cat" +
	" log.showSignature=false status.submoduleSummary=false diff.submodule=short diff.ignoreSubmodules=dirty diff.autoRefreshIndex=false gpg.program=false gpg.openpgp.program=false gpg.x509.program=false gpg.ssh.program=false")

// longest is how long a repository is searched for secrets. The history of one
// that takes longer is asked about.
const longest = 3 * time.Second

// committed says which file with secrets was ever committed to a repository
// that a line shows contents of: what is packed in it nothing can hide.
func (c shellCall) committed(ctx context.Context, s shell.Settings) (why string) {
	s.Timeout = longest
	for _, dir := range c.git.dirs {
		text := "git rev-list --objects --all --reflog --indexed-objects --missing=allow-any"
		for _, word := range c.git.words {
			text += "; git cat-file -t " + word + " 2>/dev/null"
		}
		rest := ""
		cmd := shell.Command{Text: "git rev-parse --git-dir >/dev/null || exit 77; " + text + "; exit 0", Dir: dir, Settings: s, Output: func(s string) {
			rest += s
			for line, after, ok := strings.Cut(rest, "\n"); ok && why == ""; line, after, ok = strings.Cut(rest, "\n") {
				rest = after
				switch _, path, named := strings.Cut(line, " "); {
				case named && secret.Path(path):
					why = "it may show what was committed and may hold secrets: " + script.Quote(path)
				case line == "blob", line == "tree":
					why = "it may show what may hold secrets, by its number"
				}
			}
		}}
		o := shell.Run(ctx, cmd)
		switch {
		case why != "", o.Code == 77:
		case o.Limit > 0:
			why = "it may show what was committed and may hold secrets: the history is too long to tell"
		case !o.OK() && !o.Cancelled:
			why = "it may show what was committed and may hold secrets: the history can't be read"
		}
		if why != "" {
			break
		}
	}
	return why
}
