package safe

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gemline/engine/secret"
)

// gitFirst are the options that git is given before its command: whatever the
// repository or the user's habits say, no program but git runs, and nothing is
// written.
var gitFirst = []string{"--no-pager", "--no-optional-locks", "-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
	"-c", "core.attributesFile=/dev/null", "-c", "log.showSignature=false", "-c", "status.submoduleSummary=false", "-c", "diff.submodule=short", "-c", "diff.autoRefreshIndex=false",
	"-c", "gpg.program=false", "-c", "gpg.openpgp.program=false", "-c", "gpg.x509.program=false", "-c", "gpg.ssh.program=false"}

const (
	// diffOptions shape a difference. Those that write it to a file, run
	// programs of the user's for it, or take other files than those of the
	// repository are not among them.
	diffOptions = " -p -u -s -U= --patch --no-patch --unified= --raw --minimal --patience --histogram --diff-algorithm= --stat=? --numstat --shortstat --dirstat=? --summary --name-only --name-status" +
		" --color=? --no-color --color-moved=? --color-words=? --word-diff=? --word-diff-regex= --no-renames --check --full-index --abbrev=? -B=? -M=? -C=? -D --find-renames=? --find-copies=? --find-copies-harder" +
		" --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex -R --relative -a --text -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol" +
		" --function-context -W --exit-code --quiet --src-prefix= --dst-prefix= --no-prefix -z --cc -c --compact-summary --patch-with-stat "

	// logOptions choose and shape commits.
	logOptions = diffOptions + " -# -n= --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -i --regexp-ignore-case -E -F -P --extended-regexp --fixed-strings --perl-regexp" +
		" --merges --no-merges --first-parent --all --branches=? --tags=? --remotes=? --exclude= --reflog --boundary --left-right --cherry-pick --cherry-mark --cherry --left-only --right-only" +
		" --date-order --topo-order --author-date-order --reverse --follow --full-history --simplify-merges --ancestry-path --oneline --format= --pretty=? --abbrev-commit --no-abbrev-commit --decorate=? --no-decorate --decorate-refs=" +
		" --date= --relative-date --parents --children --graph --no-graph --source --show-pulls --no-walk -L= -g --walk-reflogs -m --count --notes=? --no-notes --no-mailmap --use-mailmap --no-color --clear-decorations "

	refOptions = " --sort= --format= --contains --no-contains --merged --no-merged --points-at= --color=? --no-color --ignore-case -i --column=? --no-column "
)

// gitCommands are the commands of git that are safe with these options. Words
// that are no options name commits and paths; none stands for a file that git
// would write.
var gitCommands = map[string]program{
	// With -v, status shows the contents of what is staged, and takes no paths to leave out.
	"status": {options: " -s -b -u=? -z --short --branch --show-stash --porcelain=? --long --untracked-files=? --ignored=? --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=? "},
	"log":    {options: logOptions},
	"show":   {options: logOptions},
	"diff":   {options: diffOptions + "--cached --staged --merge-base "},
	// A word would make a new branch or tag, unless one of the options lists.
	"branch":        {options: refOptions + "-a -r -v -vv -l --all --remotes --verbose --list --show-current --abbrev=? --no-abbrev ", more: listing},
	"tag":           {options: refOptions + "-l -n=? --list ", more: listing},
	"remote":        {options: " -v --verbose --all ", more: remotes},
	"stash":         {options: " --oneline -# -p --patch --stat=? --name-only --name-status ", more: stashes},
	"reflog":        {options: logOptions, more: reflogs},
	"rev-parse":     {options: " --abbrev-ref=? --short=? --verify -q --quiet --symbolic --symbolic-full-name --all --branches=? --tags=? --remotes=? --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --revs-only --no-revs --flags "},
	"rev-list":      {options: logOptions},
	"ls-files":      {options: " -c -d -m -o -i -s -u -k -t -v -z --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --exclude= -x= --exclude-standard --error-unmatch --full-name --abbrev=? --eol --debug --deduplicate "},
	"ls-tree":       {options: " -d -r -t -l -z --name-only --name-status --long --full-name --full-tree --abbrev=? --format= "},
	"blame":         {options: " -b -c -e -f -l -n -p -s -t -w -L= -M=? -C=? --root --show-stats --porcelain --line-porcelain --incremental --date= --abbrev= --show-name --show-number --show-email --reverse --first-parent --since= --color-lines --color-by-age "},
	"describe":      {options: " --tags --all --long --always --abbrev=? --candidates= --exact-match --contains --match= --exclude= --first-parent --debug "},
	"shortlog":      {options: " -s -n -e -c --summary --numbered --email --group= --committer --all --no-merges --merges --since= --after= --until= --before= --author= --format= ", more: commits},
	"merge-base":    {options: " -a --all --octopus --independent --is-ancestor --fork-point "},
	"name-rev":      {options: " --tags --refs= --exclude= --name-only --always --no-undefined "},
	"cat-file":      {options: " -t -s -e -p "},
	"grep":          {options: " -# -a -i -I -w -v -h -H -E -G -F -P -n -l -L -z -o -c -p -W -q -e= -A= -B= -C= --cached --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color=? --no-color --break --heading --show-function --function-context --after-context= --before-context= --context= --max-depth= --and --or --not --all-match --quiet -r --recursive "},
	"show-ref":      {options: " --head --tags --heads --branches --verify -d --dereference -s --hash=? --abbrev=? -q --quiet "},
	"for-each-ref":  {options: refOptions + "--count= "},
	"check-ignore":  {options: " -q -v -n --quiet --verbose --non-matching --no-index "},
	"count-objects": {options: " -v -H --verbose --human-readable "},
	"config":        {options: " --get ", most: 1, more: configured},
	"version":       {options: " --build-options "},
}

// gitBehind are options that git is given behind a command.
var gitBehind = map[string][]string{
	"status": {"--ignore-submodules=dirty"},
	"diff":   {"--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"},
	"log":    {"--no-ext-diff", "--no-textconv"},
	"show":   {"--no-ext-diff", "--no-textconv"},
	"reflog": {"--no-ext-diff", "--no-textconv"},
	"blame":  {"--no-textconv"},
	"grep":   {"--no-textconv"},
}

// gitCommand reads the arguments of git.
func (j *judge) gitCommand(args []string) (usage, string) {
	for len(args) > 0 && (args[0] == "--no-pager" || args[0] == "-P" || args[0] == "--no-optional-locks") {
		args = args[1:]
	}
	if len(args) == 1 && args[0] == "--version" {
		return usage{args: args}, ""
	}
	if len(args) == 0 {
		return usage{}, "it is not said what git does"
	}
	name := args[0]
	p, ok := gitCommands[name]
	if !ok {
		return usage{}, brief(name) + " is not on the list"
	}
	p.operands, p.dashless = words, true
	u, why := j.use(p, args[1:])
	if why != "" {
		return u, name + ": " + why
	}
	for _, o := range u.options {
		if signs.MatchString(o.value) || strings.Contains(o.value, "signature") || strings.HasPrefix(o.value, "%(trailers") {
			return u, name + ": a format that has signatures checked: " + brief(o.value)
		}
	}
	names := u.operands
	if name == "grep" && !u.has("-e") && len(names) > 0 {
		names = names[1:] // the first is a pattern
	}
	for _, w := range names {
		if why := j.revision(w); why != "" {
			return u, name + ": " + why
		}
	}
	if why := j.repositories(); why != "" {
		return u, why
	}
	if name == "diff" && slices.ContainsFunc(j.dirs, outside) {
		return u, "diff: without a repository it compares any files"
	}
	if why := j.contents(name, &u, names); why != "" {
		return u, name + ": " + why
	}
	first := append(slices.Clone(gitFirst), name)
	if name == "stash" || name == "reflog" && len(u.operands) > 0 && u.operands[0] == "show" {
		first, u.args, u.end = append(first, u.args[0]), u.args[1:], u.end-1
	}
	u.args = slices.Concat(first, gitBehind[name], u.args)
	return u, ""
}

// patches are the options with which a list of commits shows what was changed.
var patches = []string{"--check", "-p", "-u", "-U", "--patch", "--unified", "--patch-with-stat", "-c", "--cc", "-m", "-W", "--function-context", "--word-diff", "--word-diff-regex", "--color-words"}

// object finds in a word, or in a range, what may be the number of a file's
// content, which says nothing of the file's name. In v1-2-g0123 the number is what
// counts, as git describe writes it.
var object = regexp.MustCompile(`(^\^?|\.\.)((?:[^:^~@]*-g)?[0-9a-fA-F]{4,64})(\.\.|$)`)

// contents keeps what shows the contents of files from secrets, in whatever
// commit they are, by leaving these out. What is named by a number has to be a
// commit.
func (j *judge) contents(name string, u *usage, words []string) string {
	switch {
	case name == "grep", name == "diff", name == "show":
	case (name == "log" || name == "reflog") && u.has(append(patches, "-L")...):
	case name == "cat-file" && !u.has("-t", "-s", "-e"):
		if slices.ContainsFunc(words, func(w string) bool {
			return object.MatchString(w) || peels(w) && !strings.Contains(w, "^{tree}")
		}) {
			return "it may read what may hold secrets, by its number"
		}
		return ""
	default:
		return ""
	}
	for _, o := range u.options {
		if _, path, _ := strings.Cut(o.value, ":"); o.name == "-L" && hidden(path[strings.LastIndexByte(path, ':')+1:]) {
			return "it reads what may hold secrets: " + brief(path)
		}
	}
	if name != "grep" && u.has("-L", "--follow") {
		if slices.ContainsFunc(words, func(w string) bool { return j.directory(w) || globs(w) }) {
			return "it follows more than a file, in which there may be secrets"
		}
		return "" // which goes with one file, and no patterns
	}
	u.args = slices.Clone(u.args)
	named := false // files are
	for _, w := range words {
		if peels(w) {
			return "it may read what may hold secrets: " + brief(w)
		}
		for i, a := range u.args {
			if a == "--" {
				break
			}
			for a == w && object.MatchString(u.args[i]) {
				u.args[i] = object.ReplaceAllString(u.args[i], "${1}${2}^{commit}${3}")
			}
		}
		named = named || j.there(w) || globs(w)
	}
	if name == "diff" && len(words) > 0 && !slices.Contains(u.args, "--") && !slices.ContainsFunc(words, func(w string) bool { return !j.version(w) }) {
		return "" // two versions of a file, which go with no patterns
	}
	if name == "log" && !named && !slices.Contains(u.args, "--") {
		u.add("--full-history", "--sparse") // without, commits would be left out, too
	}
	for _, s := range secret.Patterns() {
		u.args = append(u.args, ":(top,exclude,glob)**/"+s)
		if !strings.Contains(s[1:], ".") { // nobody gives a directory an ending
			u.args = append(u.args, ":(top,exclude,glob)**/"+s+"/**")
		}
	}
	return ""
}

// peels reports whether a word says to look behind a name for what may be the
// content of a file.
func peels(word string) bool {
	return strings.Contains(word, "^{") && !strings.Contains(word, "^{commit}") && !strings.Contains(word, "^{/")
}

// version reports whether a word names a file in a commit, as in HEAD:x, and not a
// directory, or paths by a pattern.
func (j *judge) version(word string) bool {
	commit, name, _ := strings.Cut(word, ":")
	return commit != "" && !strings.ContainsAny(word, `*?[\{`) && j.there(name) && !j.directory(name)
}

// globs reports whether a word may name paths by a pattern.
func globs(word string) bool {
	return strings.ContainsAny(word, `*?[\`) || strings.HasPrefix(word, ":")
}

// there reports whether a word may name a file or a directory.
func (j *judge) there(word string) bool {
	return slices.ContainsFunc(j.dirs, func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, word))
		return err == nil
	})
}

// directory reports whether a word may name a directory.
func (j *judge) directory(word string) bool {
	return slices.ContainsFunc(j.dirs, func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, word))
		return err == nil && info.IsDir()
	})
}

// revision reads a word that may name a commit, a path, or both with a colon
// between. What is a path to git must be one that may be shown.
func (j *judge) revision(word string) string {
	_, path, both := strings.Cut(word, ":")
	if both {
		// Behind the first colon there may be a stage, as in :0:x, or what
		// else is said of a path, as in :(top)x.
		parts := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(":()!^", r) })
		if strings.HasPrefix(path, "/") || slices.ContainsFunc(parts, hidden) {
			return "it reads what may hold secrets: " + brief(word)
		}
	}
	return j.path(strings.TrimPrefix(word, "^"))
}

// signs finds what in a format has signatures checked, which a program does
// that the user's configuration names.
var signs = regexp.MustCompile(`%[-+ ]?G`)

// listing keeps branch and tag to listing.
func listing(_ *judge, u *usage) string {
	if len(u.operands) == 0 || u.has("-l", "--list") || len(u.operands) == 1 && u.has("--contains", "--no-contains", "--merged", "--no-merged") {
		return ""
	}
	return "it makes a new one"
}

// remotes keeps remote to what is known without asking one.
func remotes(_ *judge, u *usage) string {
	if len(u.operands) == 0 || len(u.operands) == 2 && u.operands[0] == "get-url" && u.args[0] == "get-url" {
		return ""
	}
	return "it does more than list"
}

// stashes keeps stash to listing.
func stashes(_ *judge, u *usage) string {
	if len(u.operands) == 1 && u.args[0] == "list" && !u.has("-p", "--patch") {
		return ""
	}
	return "it does more than list"
}

// reflogs keeps reflog to showing.
func reflogs(_ *judge, u *usage) string {
	if len(u.operands) == 0 || len(u.operands) <= 2 && u.args[0] == "show" {
		return ""
	}
	return "it may do more than show"
}

// commits wants a commit, since shortlog reads its input without one.
func commits(_ *judge, u *usage) string {
	if len(u.operands) == 0 && !u.has("--all") {
		return "it reads its input"
	}
	return ""
}

// configured keeps config to telling what is no secret.
func configured(_ *judge, u *usage) string {
	known := []string{"user.name", "user.email", "init.defaultbranch", "init.defaultBranch", "remote.origin.url", "core.autocrlf", "core.filemode", "core.fileMode", "pull.rebase", "push.default"}
	if len(u.operands) == 1 && slices.Contains(known, u.operands[0]) {
		return ""
	}
	return "it may set something, or show secrets"
}
