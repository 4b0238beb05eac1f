package script

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// builtin reads the builtin commands of bash, dash and busybox, and reports whether name is
// a builtin. Only harmless forms are listed. Any other form makes the script opaque, since
// it may set, define or run something.
func (v *visitor) builtin(name string, args []word) bool {
	switch name {
	case ":", "true", "false", "echo", "pwd", "type", "times", "help", "caller", "kill", "exit", "logout":
	case "printf":
		v.printf(args)
	case "eval":
		v.runsScript(name, args)
	case "source", ".":
		v.unchecked(name, args)
	case "alias", "enable", "hash", "complete", "compopt", "compgen", "history", "dirs", "jobs":
		if len(args) > 0 { // it may do more than list
			v.opaque("it may redefine a command: %s %s", name, join(args))
		}
	case "bg", "fg":
		v.lower(engine.Readable, "it resumes a stopped job")
	case "trap":
		v.trap(args)
	case "cd", "chdir", "pushd", "popd":
		v.changeDir(name, args)
	case "command", "builtin", "exec":
		v.wrapper(name, program.Find(name), args)
	case "test", "[":
		v.condition(args)
	case "read", "unset", "getopts", "wait", "mapfile", "readarray", "let", "declare", "typeset", "local", "export", "readonly":
		v.setVariables(name, args)
	case "set", "shopt":
		v.setOptions(name, args)
	case "unalias", "umask", "ulimit", "shift", "return", "break", "continue", "suspend", "disown":
		v.lower(engine.Readable, "it changes the shell: %s", name)
	default:
		if slices.Contains(otherShells, name) {
			v.opaque("what %s does is not read: %s", name, join(args))
			return true
		}
		return false
	}
	return true
}

// IsBuiltin reports whether name is a builtin command of the shell.
func IsBuiltin(name string) bool { return slices.Contains(bashBuiltins, name) }

var bashBuiltins = strings.Fields(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec
	exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt
	source suspend test times trap true type typeset ulimit umask unalias unset wait`)

// otherShells are builtins of other shells, as sh may be any shell, and interactive
// commands: fc edits and runs earlier commands.
var otherShells = strings.Fields(`fc bind print whence where autoload zmodload emulate functions integer float setopt unsetopt vared zle zstyle zparseopts zformat
	zcompile zpty zsocket ztcp bindkey noglob nocorrect rehash unhash unfunction sched limit unlimit hist nameref enum global alarm`)

// conversions matches the conversions of a format that only print, with their flags. %n is
// not among them, since it sets a variable.
var conversions = text.Pattern(`%%|%[-#+ 0']*(\*|[0-9]+)?(\.(\*|[0-9]+)?)?([hlLjtzZ]*[diouxXeEfFgGaAcCsSbqQ]|\([^()]*\)T)`)

// escapedPercent are the escapes that stand for a percent sign.
var escapedPercent = text.Pattern(`\\(0?0?45|x25|u0{0,2}25|U0{0,6}25)`)

// printf reads the arguments of printf. The format determines the use of the other
// arguments.
func (v *visitor) printf(args []word) {
	if len(args) > 0 && args[0].known && strings.HasPrefix(args[0].text, "-v") {
		v.lower(engine.Readable, "it sets a variable: printf")
		set, rest := word{text: args[0].text[2:], known: true}, args[1:]
		if set.text == "" && len(rest) > 0 {
			set, rest = rest[0], rest[1:]
		}
		if !name(set) {
			v.opaque("which variable it sets is known only when it runs (printf %s)", join(args))
		}
		v.set(set.text, word{})
		args = rest
	}
	if len(args) > 0 && args[0].known && args[0].text == "--" {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		v.opaque("printf may do more than was checked: %s", join(args))
	}
	if len(args) == 0 {
		return
	}
	if format := args[0]; !format.known || escapedPercent().MatchString(format.text) ||
		strings.Contains(conversions().ReplaceAllString(format.text, ""), "%") {
		v.opaque("printf may set a variable: %s", join(args))
	}
}

// trap reads the arguments of trap: the first is a script, or an option to list.
func (v *visitor) trap(args []word) {
	v.lower(engine.Readable, "it changes the shell: trap")
	first := word{text: "-p", known: true}
	if args = skip(args, "--"); len(args) > 1 {
		first = args[0]
	}
	switch {
	case !first.known:
		v.opaque("the command of the trap is known only when it runs")
	case slices.Contains([]string{"-", "-l", "-p", "-lp", "-P"}, first.text):
	default:
		v.text(first.text, "trap")
	}
}

// changeDir reads the commands that change the directory.
func (v *visitor) changeDir(name string, args []word) {
	for len(args) > 0 && args[0].known && len(args[0].text) > 1 && args[0].text[0] == '-' {
		args = args[1:]
	}
	v.s.strict = v.s.strict || v.loop // the previous iteration changed the directory
	if len(args) == 1 && name != "popd" {
		v.enterDir(args[0])
	} else {
		v.leaveDir()
	}
}

// setVariables reads the commands that set variables by name. The index of a name is
// evaluated as arithmetic, which can run commands. Options outside of the book evaluate
// arithmetic, create references to variables, or run a script.
func (v *visitor) setVariables(name string, args []word) {
	v.loosen("it sets a variable: %s", name)
	v.s.strict = v.s.strict || name != "read"
	for i, a := range args {
		option := len(a.text) > 1 && (a.text[0] == '-' || a.text[0] == '+')
		switch {
		case name == "let", !a.known, strings.ContainsRune(a.text, '['):
			v.opaque("which variable it sets is known only when it runs (%s %s)", name, join(args))
		case option && a.text != "--":
			next := args[i+1 : min(i+2, len(args))]
			_, values, ok := program.Find(name).Take(append([]string{"-" + a.text[1:]}, texts(next)...))
			if !ok || values > 0 && next[0].split {
				v.opaque("it sets a variable that is run as a script: %s %s", name, join(args))
			}
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

// setOptions reads set and shopt. Some options change how the rest of the script is parsed,
// or where it runs: -k accepts assignments anywhere in a command.
func (v *visitor) setOptions(name string, args []word) {
	v.lower(engine.Readable, "it changes the shell: %s", name)
	for i, a := range args {
		option := a.known && len(a.text) > 0 && (a.text[0] == '-' || a.text[0] == '+')
		switch {
		case name == "set" && a.known && (a.text == "--" || a.text == "-"):
			return // the next words are $1 and on
		case name == "set" && option && strings.Trim(a.text[1:], "abefhmnoptuvxBCEPT") == "":
		case name == "shopt" && option && strings.Trim(a.text[1:], "opqsu") == "":
		case a.known && !option && slices.Contains(harmlessOptions, a.text):
		case name == "set" && !option && (i == 0 || !strings.HasSuffix(args[i-1].text, "o")) && a.known:
			return
		default:
			v.opaque("it may change how the shell reads the rest: %s %s", name, join(args))
		}
	}
}

// harmlessOptions are options of set -o and of shopt that do not change how a script is
// parsed into commands.
var harmlessOptions = strings.Fields(`allexport braceexpand emacs errexit errtrace functrace hashall ignoreeof monitor noclobber noexec noglob nolog notify nounset
	onecmd physical pipefail privileged verbose vi xtrace
	checkhash checkjobs checkwinsize cmdhist dirspell dotglob execfail extdebug failglob globasciiranges globskipdots globstar gnu_errfmt huponexit
	inherit_errexit lastpipe lithist mailwarn nocaseglob nocasematch noexpand_translation nullglob shift_verbose xpg_echo`)

// condition reads the arguments of test. An unknown operator may be -v, which evaluates its
// operand as arithmetic.
func (v *visitor) condition(args []word) {
	for i, a := range args {
		last := i+1 == len(args) || args[i+1].text == "]"
		operand := i > 0 && args[i-1].known && beforeOperand().MatchString(args[i-1].text)
		switch {
		case a.split, !a.known && !last && !operand && !(args[i+1].known && afterOperand().MatchString(args[i+1].text)):
			v.opaque("the tested value is known only when it runs (%s)", a.text)
		case a.known && (a.text == "-v" || a.text == "-R") && !last && !name(args[i+1]):
			v.opaque("arithmetic with a variable can run commands: %s", args[i+1].text)
		}
	}
}

// beforeOperand and afterOperand match the words before and behind an operand.
var (
	beforeOperand = text.Pattern(`^(-[b-np-zA-Z]|-(eq|ne|lt|le|gt|ge|nt|ot|ef)|=|==|!=|=~|<|>)$`)
	afterOperand  = text.Pattern(`^(-[ao]|-(eq|ne|lt|le|gt|ge|nt|ot|ef)|=|==|!=|=~|<|>|\))$`)
)
