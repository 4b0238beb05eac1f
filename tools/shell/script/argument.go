package script

import (
	"slices"
	"strings"

	"gemline/engine"
)

// dangers are, for programs that otherwise run nothing, the beginnings of the
// options that name a program to run (!) or a file to write (>).
var dangers = map[string][]string{
	"tar":  {"!--checkpoint-action", "!--to-command", "!--use-compress-program", "!--rsh-command", "!--new-volume-script", "!--info-script", "!-I", "!-F"},
	"rg":   {"!--pre", "!--hostname-bin"},
	"sort": {">-o", ">--output", "!--compress-program"},
	"go":   {"!-exec", "!--exec", "!-toolexec", "!--toolexec", "!-vettool", "!--vettool"},
	"make": {"!--eval", "!-E", "!SHELL="}, "gmake": {"!--eval", "!-E", "!SHELL="},
	"curl": {">-o", ">--output", "!-K", "!--config"}, "wget": {">-O", ">--output-document", "!--use-askpass", "!-e", "!--execute"},
	"man": {"!-P", "!--pager", "!-H", "!--html"}, "less": {"!+"}, "more": {"!+"}, "zip": {"!-T", "!-TT", "!--unzip-command"},
	"tcpdump": {"!-z", "!-w"}, "split": {"!--filter"}, "dpkg": {"!--pre-invoke", "!--post-invoke"}, "apt": {"!-o", "!--option"}, "apt-get": {"!-o", "!--option"},
	"pip": {"!--global-option", "!--config-settings"}, "npm": {"!--script-shell", "!--node-options"}, "cargo": {"!--config"}, "shuf": {">-o", ">--output"},
	"tree": {">-o"}, "date": {"!-s", "!--set"}, "yq": {">-i"}, "diff": {">--output"}, "dd": {">of="}, "bat": {"!--pager"}, "ip": {"!netns", "!-b"},
	"install":  {"!--strip-program"},
	"exiftool": {"!-if", "!-config"}, "ag": {"!--pager"}, "ack": {"!--pager"}, "iconv": {">-o", ">--output"},
}

// refused looks for the dangers among a program's options. Options may be
// shortened, and letters put together.
func (v *visitor) refused(name string, args []word) {
	list, ok := dangers[name]
	if !ok {
		return
	}
	if strings.HasSuffix(name, "make") && slices.ContainsFunc(args, input) {
		v.opaque("%s reads what it runs from its input", name)
	}
	ended := false
	for i, a := range args {
		ended = ended || name != "tar" && ends(args, i) // whose letters take words from further on
		if name == "tar" && i == 0 && !strings.HasPrefix(a.text, "-") {
			a.text = "-" + a.text // tar takes its letters without a dash, too
		}
		for _, d := range list {
			kind, option := d[0], d[1:]
			if !has(a.text, option) || ended && option[0] == '-' {
				continue
			}
			if kind == '!' {
				v.opaque("%s may run what an option says: %s", name, a.text)
				continue
			}
			write := func(w word) {
				switch {
				case w.known && w.text == "/dev/null":
				case name == "curl", name == "wget":
					v.open(w)
				default:
					v.write(w)
				}
			}
			_, value, given := strings.Cut(a.text, "=")
			switch {
			case given:
				write(word{text: value, known: a.known})
			case !strings.HasPrefix(option, "--") && len(a.text) > 2 && strings.HasPrefix(a.text, option):
				write(word{text: a.text[2:], known: a.known})
			case i+1 < len(args):
				write(args[i+1])
			}
		}
	}
}

// input reports whether make is told by a to read a makefile that is no file.
func input(a word) bool {
	return strings.HasSuffix(a.text, "=-") || strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "f-") || a.text == "-" || strings.Contains(a.text, "/dev/") || strings.Contains(a.text, "/proc/")
}

// ends reports whether args[i] ends the options. Behind another option it may
// be the value of that.
func ends(args []word, i int) bool {
	return args[i].text == "--" && (i == 0 || args[i-1].known && !strings.HasPrefix(args[i-1].text, "-"))
}

// has reports whether arg may be option, which stands whole or shortened, and
// if it is a letter, among others.
func has(arg, option string) bool {
	if strings.HasPrefix(option, "--") {
		key, _, _ := strings.Cut(arg, "=")
		return len(key) > 2 && strings.HasPrefix(option, key)
	}
	if len(option) == 2 {
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.IndexByte(arg[1:], option[1]) >= 0
	}
	return strings.HasPrefix(arg, option)
}

// gitCommands are git's own, but for those that run others. Every other word is
// looked up in its configuration, or among all programs.
var gitCommands = strings.Fields(`
	add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format
	checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects describe diagnose
	diff diff-files diff-index diff-tree fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc
	get-tar-commit-id grep hash-object index-pack init init-db interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit
	merge merge-base merge-file merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id
	prune prune-packed pull push range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list
	rev-parse revert rm send-pack shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule
	switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info verify-commit verify-pack verify-tag
	version whatchanged worktree write-tree`)

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
			v.opaque("git may run what an option says: %s", s)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	sub := args[0]
	if !sub.known {
		v.opaque("what git does is known only when it runs: %s", sub.text)
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
	for i, a := range args[1:] {
		s := a.text
		switch next := args[1:][i+1:]; {
		case ends(args[1:], i):
			return
		case a.split: // which the word itself has told
		case sub.text == "rebase" && (s == "-x" || s == "--exec") && len(next) > 0 && next[0].known:
			v.text(next[0].text, "git rebase")
		case sub.text == "bisect" && i == 0 && s == "run":
			v.carried("git bisect", next, nil)
			return
		case sub.text == "submodule" && i == 0 && s == "foreach":
			v.joined("git submodule", skip(next, "--recursive"))
			return
		case strings.HasPrefix(s, "ext::"), strings.Contains(s, "=ext::"), has(s, "--upload-pack"), has(s, "--receive-pack"), has(s, "--exec"), has(s, "--config"), has(s, "--template"),
			has(s, "--open-files-in-pager"), sub.text == "grep" && has(s, "-O"), has(s, "--ext-diff"), has(s, "--textconv"), has(s, "--extcmd"), has(s, "--tool"),
			sub.text == "clone" && (has(s, "-u") || has(s, "-c")), sub.text == "rebase" && (has(s, "-x") || has(s, "-s")), sub.text == "archive" && has(s, "--remote"):
			v.opaque("git may run what an option says: %s", s)
		case has(s, "--output"), sub.text == "bundle" && !strings.HasPrefix(s, "-") && (i == 1 || strings.HasPrefix(args[i].text, "-")), (sub.text == "archive" || sub.text == "format-patch") && strings.HasPrefix(s, "-o"):
			if _, value, given := strings.Cut(s, "="); given {
				v.write(word{text: value, known: a.known})
			} else if strings.HasPrefix(s, "-o") && s != "-o" {
				v.write(word{text: s[2:], known: a.known})
			} else if sub.text == "bundle" {
				v.write(a)
			} else if len(next) > 0 {
				v.write(next[0])
			}
		}
	}
}

// awk reads the arguments of awk: its program may run others and write files.
func (v *visitor) awk(name string, args []word) {
	for i := 0; i < len(args); i++ {
		switch s := args[i].text; {
		case !args[i].known:
			v.opaque("what %s runs is known only when it runs: %s", name, s)
			return
		case s == "-F" || s == "-v":
			i++
		case strings.HasPrefix(s, "-F"), strings.HasPrefix(s, "-v"), s == "--":
		case strings.HasPrefix(s, "-"):
			v.opaque("%s may run what an option says: %s", name, s)
			return
		default:
			if strings.ContainsAny(s, "|>@") || strings.Contains(s, "system") || strings.Contains(s, "getline") {
				v.opaque("a program for %s may run others or write: %s", name, s)
			}
			return
		}
	}
}

// sed reads the arguments of sed: its scripts may run programs and write
// files.
func (v *visitor) sed(args []word) {
	scripts, inPlace, bare := false, false, []word(nil)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch s := a.text; {
		case !a.known:
			v.opaque("what sed does is known only when it runs: %s", s)
			return
		case s == "-e" || s == "--expression":
			if i++; i < len(args) {
				v.edits(args[i])
			}
			scripts = true
		case s == "-f", strings.HasPrefix(s, "--f"), strings.HasPrefix(s, "--e"):
			v.opaque("sed runs a script that is not shown: %s", s)
			return
		case strings.HasPrefix(s, "--i"), len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.ContainsRune(s, 'i'):
			v.lower(engine.Readable, "sed writes the files it reads")
			inPlace = true
		case len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "nErsuz") != "" && !slices.Contains(bareSed, s):
			v.opaque("what sed does can't be told: %s", s)
		case len(s) > 1 && s[0] == '-':
		default:
			bare = append(bare, a)
		}
	}
	if !scripts && len(bare) > 0 {
		v.edits(bare[0])
		bare = bare[1:]
	}
	for _, f := range bare {
		if inPlace {
			v.write(f)
		}
	}
}

// bareSed are the long options of sed that take no value. Which of those that
// are shortened do is not looked up.
var bareSed = []string{"--", "--quiet", "--silent", "--posix", "--debug", "--regexp-extended", "--separate", "--unbuffered", "--null-data", "--zero-terminated", "--sandbox", "--version", "--help"}

// edits reads one script of sed. Of all scripts only the plainest are known to
// do no harm.
func (v *visitor) edits(w word) {
	if !w.known || !Prints(w.text) {
		v.opaque("a script for sed may run programs or write: %s", w.text)
	}
}

// uniq reads the arguments of uniq, which writes to a second file.
func (v *visitor) uniq(args []word) {
	files := 0
	for _, a := range args {
		switch {
		case a.split:
			v.opaque("what uniq writes is known only when it runs: %s", a.text)
		case a.known && len(a.text) > 1 && strings.ContainsRune("-+", rune(a.text[0])) && files == 0:
		default:
			if files++; files > 1 {
				v.write(a)
			}
		}
	}
}
