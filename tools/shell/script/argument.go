package script

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/shell/program"
)

// dangers are, for programs that otherwise run nothing, and for commands of
// theirs, the beginnings of the options that name a program to run (!), a file
// to write (>), or a way to merge, which may be a program (?), and of those that
// have other files written (*). Behind - stand letters that have a value: the
// rest of a word is not read as letters.
var dangers = map[string][]string{
	"tar":    {"!--checkpoint-action", "!--to-command", "!--use-compress-program", "!--rsh-command", "!--rmt-command", "!--new-volume-script", "!--info-script", "!-I", "!-F"},
	"bsdtar": {"!--use-compress-program", "!--checkpoint-action", "!--to-command"}, "cpio": {"!--rsh-command"}, "rpm": {"!--eval", "!-E", "!--define", "!-D", "!--pipe"}, "hg": {"!--config"}, "cvs": {"!-e"},
	"svn": {"!--diff-cmd", "!--diff3-cmd", "!--editor-cmd", "!--config-option"}, "cmake": {"!-E", "!-P"}, "gpg": {"!--exec-path", "!--agent-program"}, "sops": {"!exec-"}, "npx": {"!-c", "!--call"},
	"latex": shellEscape, "pdflatex": shellEscape, "xelatex": shellEscape, "lualatex": shellEscape, "latexmk": {"!-e", "!-r", "!-shell-escape", "!--shell-escape"},
	"rg":   {"!--pre", "!--hostname-bin"},
	"sort": {"-kStT", ">-o", ">--output", "!--compress-program"},
	"go":   {"!-exec", "!--exec", "!-toolexec", "!--toolexec", "!-vettool", "!--vettool"}, "go env": {"!-w", "!--w", "!-u", "!--u"}, "gofmt": {"*-w", "*--w", ">-cpuprofile", ">--cpuprofile"},
	"make": {"!--eval", "!-E", "!SHELL="}, "gmake": {"!--eval", "!-E", "!SHELL="},
	"curl": {"-AbcCdDeEFHKmoPQrtTuUwxXyYz", ">-o", ">--output", "*-O", "*--remote-name-all", "*--output-dir", ">-D", ">--dump-header", ">-c", ">--cookie-jar", ">--trace-ascii", ">--stderr", ">--libcurl", ">--etag-save", ">--hsts", ">--alt-svc", "!-K", "!--config"},
	"wget": {"-AaBDeGIilOoPQRTtUwX", ">-O", ">--output-document", ">-o", ">--output-file", ">-a", ">--append-output", "!--use-askpass", "!-e", "!--execute", "!--config"},
	"man":  {"!-P", "!--pager", "!-H", "!--html", "!-C", "!--config-file", "!-X", "!--gxditview"}, "more": {"!+"},
	"less": {"-bDhjkOopPtTxyz", "!+", "!-k", "!--lesskey-file", "!--lesskey-src", "!--lesskey-content", ">-o", ">-O", ">--log-file", ">--LOG-FILE"},
	"zip":  {"!-T", "!-TT", "!--unzip-command"}, "file": {"-eFfmP", "*-C", "*--compile"}, "base64": {">-o", ">--output"},
	"tcpdump": {"!-z", "!-w"}, "split": {"!--filter"}, "dpkg": {"!--pre-invoke", "!--post-invoke"}, "apt": {"!-o", "!--option"}, "apt-get": {"!-o", "!--option"},
	"pip": {"!--global-option", "!--config-settings"}, "npm": {"!-c", "!--call", "!--script-shell", "!--node-options"}, "cargo": {"!--config"}, "shuf": {">-o", ">--output"},
	"tree": {">-o", "*-R"}, "date": {"-dfIr", "!-s", "!--set"}, "yq": {"*-i", "*--inplace", "*-s", "*--split-exp"}, "dd": {">of="}, "bat": {"!--pager"}, "ip": {"!netns", "!-b"},
	"sdiff": {">-o", ">--output", "!--diff-program"}, "diff3": {"!--diff-program"}, "nm": {"!--plugin"}, "ar": {"!--plugin"}, "ptx": {"*-G", "*--traditional"},
	"install":  {"!--strip-program"},
	"exiftool": {"!-if", "!-config"}, "ag": {"!--pager"}, "ack": {"!--pager"}, "iconv": {"-ft", ">-o", ">--output"},

	"git": {"!--upload-pack", "!--receive-pack", "!--exec", "!--config", "!--template", "!--open-files-in-pager", "!--ext-diff", "!--textconv", "!--extcmd", "!--tool",
		">--output", ">--separate-git-dir", ">--export-marks", ">--export-pack-edges", ">--index-output", ">--expire-to", ">--filter-to", ">--object-dir"},
	"git clone": {"!-u", "!-c"}, "git grep": {"!-O"}, "git cat-file": {"!--filters"}, "git fast-import": {"!--allow-unsafe-features"},
	"git merge": {"-mFXS", "?-s", "?--strategy"}, "git pull": {"-XSjor", "?-s", "?--strategy"}, "git rebase": {"-XCSr", "!-x", "?-s", "?--strategy"}, "git cherry-pick": {"?--strategy"}, "git revert": {"?--strategy"},
	"git archive": {">-o", "!--remote"}, "git format-patch": {">-o", ">--output-directory"}, "git bugreport": {">-o", ">--output-directory", ">-s", ">--suffix"}, "git diagnose": {">-o", ">--output-directory", ">-s", ">--suffix"},
	"git index-pack": {">-o"}, "git mailsplit": {">-o"}, "git checkout-index": {">--prefix"}, "git apply": {"*--unsafe-paths", ">--build-fake-ancestor"}, "git config": {"*-e", "*--edit"}, "git interpret-trailers": {"*--in-place"},
}

var shellEscape = []string{"!-shell-escape", "!--shell-escape", "!-enable-write18", "!--enable-write18"}

// refused looks for the dangers of a list among a program's options. Options may
// be shortened, and letters put together.
func (v *visitor) refused(name string, list []string, args []word) {
	if len(list) == 0 {
		return
	}
	if (name == "make" || name == "gmake") && slices.ContainsFunc(args, input) {
		v.opaque("%s reads what it runs from its input", name)
	}
	valued := ""
	for _, d := range list {
		if d[0] == '-' {
			valued = d[1:]
		}
	}
	ended := false
	for i, a := range args {
		ended = ended || name != "tar" && ends(args, i) // whose letters take words from further on
		if name == "tar" && i == 0 && !strings.HasPrefix(a.text, "-") {
			a.text = "-" + a.text // tar takes its letters without a dash, too
		}
		for _, d := range list {
			kind, option := d[0], d[1:]
			if !has(a.text, option, valued) || ended && option[0] == '-' {
				continue
			}
			value, given := value(a, args[i+1:], option)
			switch {
			case kind == '!', kind == '?' && !(value.known && slices.Contains(strategies, value.text)):
				v.opaque("%s may run a program named by an option: %s", name, a.text)
			case kind == '*':
				v.lower(engine.Readable, "%s may write what an option says: %s", name, a.text)
			case !given, kind != '>', value.known && value.text == "/dev/null":
			case name == "curl", name == "wget":
				v.open(value)
			default:
				v.write(value)
			}
		}
	}
}

// value returns the value of an option that stands in a, or in front of next.
func value(a word, next []word, option string) (w word, given bool) {
	_, text, joined := strings.Cut(a.text, "=")
	if len(option) == 2 {
		text = a.text[strings.IndexByte(a.text, option[1])+1:]
		joined = text != ""
	}
	switch {
	case joined:
		return word{text: text, known: a.known}, true
	case len(next) > 0:
		return next[0], true
	}
	return word{}, false
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
// if it is a letter, among others up to one that has a value.
func has(arg, option, valued string) bool {
	if strings.HasPrefix(option, "--") {
		key, _, _ := strings.Cut(arg, "=")
		return len(key) > 2 && strings.HasPrefix(option, key)
	}
	if len(option) == 2 {
		letters, short := strings.CutPrefix(arg, "-")
		if i := strings.IndexAny(letters, valued); i >= 0 {
			letters = letters[:i+1]
		}
		return short && !strings.HasPrefix(letters, "-") && strings.IndexByte(letters, option[1]) >= 0
	}
	return strings.HasPrefix(arg, option)
}

// awk reads the arguments of awk: its program may run others and write files.
func (v *visitor) awk(name string, args []word) {
	for i := 0; i < len(args); i++ {
		switch s := args[i].text; {
		case !args[i].known:
			v.opaque("an expansion decides what %s runs: %s", name, s)
			return
		case s == "-F" || s == "-v":
			i++
		case strings.HasPrefix(s, "-F"), strings.HasPrefix(s, "-v"), s == "--":
		case strings.HasPrefix(s, "-"):
			v.opaque("%s may run a program named by an option: %s", name, s)
			return
		default:
			if strings.ContainsAny(s, "|>@") || strings.Contains(s, "system") || strings.Contains(s, "getline") {
				v.opaque("the %s script may run programs or write files: %s", name, s)
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
			v.opaque("an expansion decides what sed does: %s", s)
			return
		case s == "-e" || s == "--expression":
			if i++; i < len(args) {
				v.edits(args[i])
			}
			scripts = true
		case s == "-f", strings.HasPrefix(s, "--f"), strings.HasPrefix(s, "--e"):
			v.unchecked("sed", args[i:])
			return
		case strings.HasPrefix(s, "--i"), len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.ContainsRune(s, 'i'):
			v.lower(engine.Readable, "sed writes the files it reads")
			inPlace = true
		case len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "nErsuz") != "" && !slices.Contains(bareSed, s):
			v.opaque("sed may do more than was checked: %s", s)
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
		v.opaque("the sed script may run programs or write files: %s", w.text)
	}
}

// second reads the arguments of a program that writes to a second file.
func (v *visitor) second(name string, p *program.Program, args []word) {
	files := 0
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a.split:
			v.opaque("an expansion decides where %s writes: %s", name, a.text)
		case a.known && len(a.text) > 1 && strings.ContainsRune("-+", rune(a.text[0])) && files == 0:
			if p.Takes(a.text) {
				i++
			}
		default:
			if files++; files > 1 {
				v.write(a)
			}
		}
	}
}
