package script

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/shell/program"
)

// git reads the arguments of git. A repository's configuration may also make git run
// programs, which no argument shows; the policy decides about that.
func (v *visitor) git(git *program.Program, args []word) {
	for len(args) > 0 && args[0].known && strings.HasPrefix(args[0].text, "-") {
		s := args[0].text
		switch {
		case s == "-C" && len(args) > 1:
			v.loosen("git works in another directory")
			v.s.strict = v.s.strict || !args[1].known
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
		v.opaque("what git does is known only when it runs (%s)", sub.text)
		return
	}
	p, ok := git.Command(sub.text)
	switch {
	case p.Is(program.Launches):
		v.opaque("git %s runs programs of its own", sub.text)
	case !ok:
		v.opaque("git %s may be an alias, or a program of that name", sub.text)
	case sub.text == "config" && len(args) > 2 && !strings.HasPrefix(args[1].text, "--get"):
		v.lower(engine.Readable, "git config may set what git runs")
	}
	v.dangerousOptions("git", v.gitRuns(sub.text, p.Grammar == "remote", args[1:]), git, p)
}

// strategies are git's built-in merge strategies. Any other NAME is the program
// git-merge-NAME.
var strategies = []string{"resolve", "recursive", "octopus", "ours", "subtree", "ort"}

// gitRuns reads the programs that a git command runs by operands, and returns the words whose
// options are still to be read. A remote command takes addresses of repositories.
func (v *visitor) gitRuns(sub string, remote bool, args []word) (rest []word) {
	is := func(words []word, name string) bool { return len(words) > 0 && words[0].text == name }
	switch sub {
	case "submodule":
		words := without(args, "-q", "--quiet", "--cached")
		if is(words, "foreach") {
			v.runsScript("git submodule", without(words[1:], "-q", "--quiet", "--recursive"))
			return nil
		}
		v.subcommand(words)
	case "bisect":
		if is(args, "run") {
			v.runs("git bisect", args[1:], nil)
			return nil
		}
		if (is(args, "visualize") || is(args, "view")) && len(args) > 1 && !strings.HasPrefix(args[1].text, "-") {
			v.opaque("git bisect may run a program named by an argument: %s", args[1].text)
		}
		v.subcommand(args)
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
	for i, a := range args {
		if !remote && ends(args, i) {
			break
		}
		address := a.text[strings.IndexByte(a.text, '=')+1:]
		if remote && hasRemoteHelper(address) || strings.HasPrefix(address, "ext::") {
			v.opaque("git runs a program for such an address: %s", a.text)
		}
	}
	return args
}

// without returns words without the leading options.
func without(words []word, options ...string) []word {
	for len(words) > 0 && slices.Contains(options, words[0].text) {
		words = words[1:]
	}
	return words
}

// subcommand makes the script opaque if the first word, the subcommand of a git command, is
// unknown.
func (v *visitor) subcommand(words []word) {
	if len(words) > 0 && !words[0].known {
		v.opaque("what git does is known only when it runs (%s)", words[0].text)
	}
}

// hasRemoteHelper reports whether git reaches a repository by a program git-remote-SCHEME,
// after the address's scheme.
func hasRemoteHelper(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	if !ok || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return false
	}
	rest := address[len(scheme)+1:]
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "//") && !slices.Contains(gitSchemes, scheme)
}

// gitSchemes are the schemes for which git has its own helper.
var gitSchemes = []string{"http", "https", "ftp", "ftps", "git", "ssh", "file", "git+ssh", "ssh+git"}

// RewritesGitSetup reports whether a git command writes the files of a repository that
// decide which programs git runs. If these are read-only, it fails halfway.
func RewritesGitSetup(commands []engine.Command) bool {
	return slices.ContainsFunc(commands, func(c engine.Command) bool {
		name, known := c.Program()
		words := c.Words()
		if !known || name != "git" {
			return false
		}
		if i := slices.Index(words, "worktree"); i > 0 && i+1 < len(words) {
			return words[i+1] != "list"
		}
		i := slices.Index(words, "rebase")
		return i > 0 && slices.ContainsFunc(words[i:], func(w string) bool {
			return w == "-x" || w == "--exec" || strings.HasPrefix(w, "--exec=")
		})
	})
}
