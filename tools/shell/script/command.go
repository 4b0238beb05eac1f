package script

import (
	"slices"
	"strings"

	"gemline/engine"
)

// command reads a simple command: words that are run, with env set for them
// and in as their standard input, if that is known.
func (v *visitor) command(words []word, env []string, in *string) {
	c := engine.Command{Env: env, Inside: v.inside, Argv: make([]engine.Word, len(words))}
	for i, w := range words {
		c.Argv[i] = w.engine()
	}
	v.record(c)
	if len(words) == 0 || v.deep() {
		return
	}
	name, known := c.Program()
	if strings.HasPrefix(words[0].text, "%") {
		v.opaque("it goes on with a job: %s", words[0].text)
	}
	if !known || name == "" {
		v.opaque("which program it runs is known only when it runs: %s", words[0].text)
		return
	}
	if strings.ContainsFunc(words[0].text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		v.lower(engine.Readable, "the name of a program is not in plain letters: %s", words[0].text)
	}
	name = plainName(name)
	v.depth++
	defer func() { v.depth-- }()
	args := words[1:]
	if strings.ContainsRune(words[0].text, '/') || !v.builtin(name, args) {
		v.program(name, args, in)
	}
}

// plainName returns the name of a program as the tables here have it.
func plainName(name string) string {
	return strings.TrimSuffix(strings.ToLower(name), ".exe")
}

// builtin reads the commands of the shell itself, and reports whether name is
// one that needs no further look.
func (v *visitor) builtin(name string, args []word) bool {
	switch name {
	case "eval":
		v.joined(name, args)
	case "source", ".":
		v.opaque("it runs a script that is not shown: %s", join(args))
	case "alias", "enable", "hash", "bind", "complete", "compopt", "fc", "history":
		if len(args) > 0 {
			v.opaque("it changes what a name means: %s %s", name, join(args))
		}
	case "trap":
		switch args = skip(args, "--"); {
		case len(args) > 1 && args[0].known && !strings.HasPrefix(args[0].text, "-"):
			v.text(args[0].text, name)
		case len(args) > 1 && !args[0].known:
			v.opaque("what it runs at the end is known only when it runs")
		}
		v.lower(engine.Readable, "it changes the shell: %s", name)
	case "cd", "pushd", "popd":
		for len(args) > 0 && args[0].known && len(args[0].text) > 1 && args[0].text[0] == '-' {
			args = args[1:]
		}
		if len(args) == 1 && name != "popd" {
			v.enter(args[0])
		} else {
			v.lost()
		}
	case "command", "builtin", "exec":
		v.prefix(name, args)
	case "test", "[":
		v.condition(args)
	case "read", "printf", "unset", "getopts", "wait", "mapfile", "readarray", "let", "declare", "typeset", "local", "export", "readonly":
		v.changes(name, args)
	case "set", "shopt", "unalias", "umask", "ulimit", "shift", "return", "break", "continue", "suspend", "disown":
		v.lower(engine.Readable, "it changes the shell: %s", name)
		if name == "set" || name == "shopt" {
			for _, a := range args {
				if !a.known || a.text == "posix" || a.text == "expand_aliases" || a.text == "extglob" {
					v.opaque("it changes how the rest is read: %s %s", name, join(args))
				}
			}
		}
	default:
		return false
	}
	return true
}

// changes reads the commands that set variables by name. A name with an index
// is calculated, and a calculation can run commands.
func (v *visitor) changes(name string, args []word) {
	if name == "printf" && (len(args) == 0 || args[0].known && !strings.HasPrefix(args[0].text, "-v")) {
		return
	}
	v.lower(engine.Readable, "it sets a variable: %s", name)
	for i, a := range args {
		option := strings.HasPrefix(a.text, "-")
		switch {
		case name == "printf" && i > 1 && args[0].known && args[0].text == "-v":
			return
		case name == "let", !a.known, strings.ContainsRune(a.text, '['):
			v.opaque("it sets what is known only when it runs: %s %s", name, join(args))
		case (name == "mapfile" || name == "readarray") && option && strings.ContainsAny(a.text, "Cc"):
			v.opaque("it runs a script for every line: %s", join(args))
		case (name == "declare" || name == "typeset" || name == "local" || name == "export" || name == "readonly") && option && strings.ContainsAny(a.text, "nif"):
			v.opaque("what it sets is read as a script: %s %s", name, join(args))
		}
		if key, value, ok := strings.Cut(a.text, "="); ok && a.known {
			v.set(key, word{text: value, known: true})
		} else if a.known && !option {
			v.set(a.text, word{})
		}
		for j := 2; option && j < len(a.text); j++ {
			v.set(a.text[j:], word{}) // it may be the value of a letter, as in -vPATH
		}
	}
}

// condition reads the arguments of test.
func (v *visitor) condition(args []word) {
	for i, a := range args {
		switch {
		case a.split, !a.known && i == 0 && len(args) < 4:
			v.opaque("what it tests is known only when it runs: %s", a.text)
		case (a.text == "-v" || a.text == "-R") && i+1 < len(args) && !name(args[i+1]) && args[i+1].text != "]":
			v.opaque("it calculates with a variable: %s", args[i+1].text)
		}
	}
}

// set notes that a variable is set.
func (v *visitor) set(name string, value word) {
	v.lower(engine.Readable, "it sets %s", name)
	if value.known && slices.Contains([]string{"", "cat", "less", "more", "true", ":", "0", "1"}, value.text) && name != "PATH" && name != "IFS" {
		return
	}
	if slices.Contains(steering, name) || slices.ContainsFunc(steeringPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name, "_OPTIONS") {
		v.opaque("it sets %s, which decides what programs run", name)
	}
}

// steering are the variables that make programs run others, or other code.
var steering = []string{"PATH", "BASH_ENV", "ENV", "IFS", "PS4", "PS0", "PS1", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "SHELL", "HOME",
	"CDPATH", "EXECIGNORE", "BASH_LOADABLES_PATH", "BROWSER", "VISUAL", "LESSOPEN", "LESSCLOSE", "MANOPT", "GCONV_PATH", "LOCPATH",
	"RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB", "PERL5DB", "PERLLIB", "NODE_PATH", "RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "CC", "CXX", "MAKEFLAGS",
	"GNUMAKEFLAGS", "MAKEFILES", "GOFLAGS", "GOENV", "CLASSPATH", "TAR_OPTIONS", "RIPGREP_CONFIG_PATH", "ACKRC", "BAT_CONFIG_PATH", "WGETRC", "CURL_HOME", "LESSKEY", "LESSKEYIN", "RSYNC_RSH", "CVS_RSH", "XDG_CONFIG_HOME", "LUA_INIT", "PHPRC", "TERMINFO", "ZDOTDIR"}

var steeringPrefixes = []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_", "PYTHON", "SSH_", "NPM_CONFIG_", "npm_config_", "CARGO_"}

// join returns words on a line.
func join(words []word) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return strings.Join(all, " ")
}

// skip returns words without the first if that is s.
func skip(words []word, s string) []word {
	if len(words) > 0 && words[0].text == s {
		return words[1:]
	}
	return words
}

// joined reads words that command runs as one script.
func (v *visitor) joined(command string, words []word) {
	words = skip(words, "--")
	if slices.ContainsFunc(words, func(w word) bool { return !w.known }) {
		v.opaque("%s runs a script that is known only when it runs: %s", command, join(words))
		return
	}
	if len(words) > 0 {
		v.text(join(words), command)
	}
}

// carried reads a command that another one runs, with env set for it.
func (v *visitor) carried(command string, words []word, env []string) {
	v.lower(engine.Readable, "%s runs another command", command)
	if len(words) == 0 {
		return
	}
	was := v.inside
	v.inside = command
	v.command(words, env, nil)
	v.inside = was
}
