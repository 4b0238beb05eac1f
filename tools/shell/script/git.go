package script

import (
	"slices"
	"strings"

	"gemline/engine"
)

// gitCommands are git's own, but for those that run others. Every other word is
// looked up in its configuration, or among all programs; and so are, of late,
// those that git is to lose: whatchanged and pack-redundant.
var gitCommands = strings.Fields(`
	add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format
	checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects describe diagnose
	diff diff-files diff-index diff-tree fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc
	get-tar-commit-id grep hash-object index-pack init init-db interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit
	merge merge-base merge-file merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id
	prune prune-packed pull push range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list
	rev-parse revert rm send-pack shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule
	switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info verify-commit verify-pack verify-tag
	version worktree write-tree`)

// git reads the arguments of git. A repository may have it run programs, too,
// which no argument shows: whether it may run unasked is the policy's matter.
func (v *visitor) git(args []word) {
	for len(args) > 0 && args[0].known && strings.HasPrefix(args[0].text, "-") {
		s := args[0].text
		switch {
		case s == "-C" && len(args) > 1:
			v.lower(engine.Readable, "git works in another directory")
			args = args[1:]
		case s == "-c" && len(args) > 1 && args[1].known && (strings.HasPrefix(args[1].text, "user.") || strings.HasPrefix(args[1].text, "color.") || strings.HasPrefix(args[1].text, "advice.")):
			args = args[1:]
		case s == "--no-pager", s == "-P", s == "--version", s == "--help", s == "--no-optional-locks", s == "--literal-pathspecs":
		default:
			v.opaque("git may run a program named by an option: %s", s)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	sub := args[0]
	if !sub.known {
		v.opaque("an expansion decides what git does: %s", sub.text)
		return
	}
	switch {
	case slices.Contains([]string{"filter-branch", "difftool", "mergetool", "send-email", "daemon", "instaweb", "web--browse", "credential", "p4", "svn", "hook", "shell", "var", "help", "maintenance", "citool", "gui"}, sub.text):
		v.opaque("git %s runs programs of its own", sub.text)
	case !slices.Contains(gitCommands, sub.text):
		v.opaque("git %s may be an alias, or a program of that name", sub.text)
	case sub.text == "config" && len(args) > 2:
		v.lower(engine.Readable, "git config may set what git runs")
	}
	v.refused("git", slices.Concat(dangers["git"], dangers["git "+sub.text]), v.gitRuns(sub.text, args[1:]))
}

// strategies are git's own ways to merge. Any other is a program that is
// called so behind git-merge-.
var strategies = []string{"resolve", "recursive", "octopus", "ours", "subtree", "ort"}

// gitRuns reads what a command of git's may be told to run by other words than
// options, and returns the words that may still do that by one.
func (v *visitor) gitRuns(sub string, args []word) (rest []word) {
	is := func(words []word, name string) bool { return len(words) > 0 && words[0].text == name }
	switch sub {
	case "submodule":
		words := without(args, "-q", "--quiet", "--cached")
		if is(words, "foreach") {
			v.joined("git submodule", without(words[1:], "-q", "--quiet", "--recursive"))
			return nil
		}
		v.said(words)
	case "bisect":
		if is(args, "run") {
			v.carried("git bisect", args[1:], nil)
			return nil
		}
		if (is(args, "visualize") || is(args, "view")) && len(args) > 1 && !strings.HasPrefix(args[1].text, "-") {
			v.opaque("git bisect may run a program named by an argument: %s", args[1].text)
		}
		v.said(args)
	case "bundle":
		if is(args, "create") {
			if i := slices.IndexFunc(args[1:], func(w word) bool { return !strings.HasPrefix(w.text, "-") }); i >= 0 {
				v.write(args[1+i])
			}
		}
	case "rebase":
		for i := 0; i < len(args); i++ {
			if (args[i].text == "-x" || args[i].text == "--exec") && i+1 < len(args) && args[i+1].known {
				i++
				v.text(args[i].text, "git rebase")
				continue
			}
			rest = append(rest, args[i])
		}
		return rest
	}
	remote := slices.Contains(gitRemote, sub)
	for i, a := range args {
		if !remote && ends(args, i) {
			break
		}
		address := a.text[strings.IndexByte(a.text, '=')+1:]
		if remote && helped(address) || strings.HasPrefix(address, "ext::") {
			v.opaque("git runs a program for such an address: %s", a.text)
		}
	}
	return args
}

// without returns words without those of the first that are options.
func without(words []word, options ...string) []word {
	for len(words) > 0 && slices.Contains(options, words[0].text) {
		words = words[1:]
	}
	return words
}

// said makes sure that it is known what a command of git's does, which the
// first of words says.
func (v *visitor) said(words []word) {
	if len(words) > 0 && !words[0].known {
		v.opaque("an expansion decides what git does: %s", words[0].text)
	}
}

// gitRemote are the commands of git that are given addresses of repositories.
var gitRemote = []string{"archive", "clone", "fetch", "fetch-pack", "ls-remote", "pull", "push", "remote", "request-pull", "send-pack", "submodule"}

// helped reports whether git runs a program, which is called as the address
// begins, behind git-remote-, to get at a repository.
func helped(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	if !ok || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return false
	}
	rest := address[len(scheme)+1:]
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "//") && !slices.Contains(gitSchemes, scheme)
}

// gitSchemes are those of the addresses that git has a program of its own for.
var gitSchemes = []string{"http", "https", "ftp", "ftps", "git", "ssh", "file", "git+ssh", "ssh+git"}
