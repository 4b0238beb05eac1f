package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// program reads the arguments of a program: some run others, or write files
// that no redirection names.
func (v *visitor) program(name string, args []word, in *string) {
	p := program.Find(name)
	switch {
	case p.Is(program.Shell):
		v.shell(name, p.Grammar, args, in)
		return
	case p.Is(program.Interpreter):
		v.interpreter(name, p.Grammar, args)
		return
	case p.Is(program.Launches):
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
		return
	}
	switch p.Grammar {
	case "arch":
		if len(args) > 1 {
			v.opaque("%s may run a program that was not checked: %s", name, join(args))
		}
	case "awk":
		v.awk(name, args)
	case "container", "kubectl":
		v.container(name, p, args)
	case "database":
		v.database(name, args)
	case "fd":
		v.fd(args)
	case "find":
		v.find(args)
	case "gh":
		if len(args) > 2 && args[0].text == "repo" && args[1].text == "clone" {
			options := slices.DeleteFunc(slices.Clone(args[2:]), func(w word) bool { return w.text == "--" })
			v.runs("gh", append([]word{{text: "git", known: true}, args[1]}, options...), nil)
		}
	case "git":
		v.git(p, args)
	case "loader":
		v.opaque("the dynamic loader runs its arguments: %s", join(args))
	case "second":
		v.second(name, p, args)
	case "sed":
		v.sed(p, args)
	case "ssh":
		v.ssh(p, args)
	case "su", "script":
		v.su(name, args)
	case "tee":
		for _, a := range args {
			if !a.known || !strings.HasPrefix(a.text, "-") && a.text != "/dev/null" {
				v.write(a)
			}
		}
	case "make":
		if slices.ContainsFunc(args, readsInput) {
			v.opaque("%s reads its commands from its input", name)
		}
		v.dangerousOptions(name, args, p)
	case "go":
		v.dangerousOptions(name, args, p)
		if env, ok := p.Command("env"); ok && slices.ContainsFunc(args, func(w word) bool { return w.text == "env" }) {
			v.dangerousOptions(name, args, env)
		}
	default:
		if p.Usage != nil {
			v.wrapper(name, p, args)
			return
		}
		v.dangerousOptions(name, args, p)
		v.writes(p, args)
	}
}

// database reads the arguments of a client of databases, whose commands may run
// programs: \! and \copy, .shell and .system, system, and copies to programs.
func (v *visitor) database(name string, args []word) {
	for i, a := range args {
		file := slices.Contains([]string{"-f", "--file", "-init", "--init-command"}, a.text) ||
			strings.HasPrefix(a.text, "--file=") || strings.HasPrefix(a.text, "-f") && name == "psql"
		if !a.known || file || runsByClient().MatchString(a.text) {
			v.opaque("%s may run a program named by an argument: %s", name, join(args[i:]))
			return
		}
	}
}

var runsByClient = text.Pattern(`(?i)[\\|]|^\s*[.:]|\.(shell|system|read|load|once|output|import)\b|\b(system|source|program|load_extension|editor|pager)\b`)

// shell reads the arguments of a shell. Only bash and POSIX-like shells parse a script as
// this package does.
func (v *visitor) shell(name, grammar string, args []word, in *string) {
	v.lower(engine.Readable, "%s runs a script of its own", name)
	if grammar != "bash" && grammar != "posix" {
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
		if grammar == "" {
			return // its scripts have another syntax
		}
	}
	dialects := func(text string) {
		v.script(text, name, syntax.LangBash, v.again)
		if grammar != "bash" {
			v.script(text, name, syntax.LangPOSIX, true)
		}
	}
	script := false
	for len(args) > 0 && args[0].known && len(args[0].text) > 1 && (args[0].text[0] == '-' || args[0].text[0] == '+') {
		s := args[0].text
		args = args[1:]
		switch {
		case s == "--":
		case s == "--norc", s == "--noprofile", s == "--posix":
			continue
		case s == "--version", s == "--help":
			return
		case strings.HasPrefix(s, "--"), s[0] == '+', strings.Trim(s[1:], "aceEfhluvxi") != "":
			v.opaque("%s may run a program that was not checked: %s", name, s)
			return
		default:
			script = script || strings.ContainsRune(s, 'c')
			continue
		}
		break
	}
	switch {
	case script && len(args) > 0 && args[0].known:
		dialects(args[0].text)
	case !script && len(args) == 0 && in != nil:
		dialects(*in)
	default:
		v.unchecked(name, args)
	}
}

// interpreter reads the arguments of an interpreter. A file or a module that
// it runs is a program like any other; a text is not.
func (v *visitor) interpreter(name, grammar string, args []word) {
	if len(args) == 0 || args[0].text == "-" {
		v.unchecked(name, nil)
		return
	}
	for i, a := range args {
		s := a.text
		switch {
		case !a.known:
			v.opaque("what %s runs is known only when it runs (%s)", name, s)
			return
		case grammar == "python" && strings.HasPrefix(s, "-m"):
			return
		case i == len(args)-1 && (s == "--version" || s == "--help" || s == "-V" || s == "-h"):
			return // some interpreters then read the other arguments
		case !strings.HasPrefix(s, "-"):
			return // a file, or a subcommand as in deno
		case grammar == "python" && strings.Trim(s, "-uBEIsSOqv") == "":
		case grammar == "node" && (s == "--test" || s == "--check" || s == "-c" || s == "-v"):
		default:
			v.opaque("%s runs code from an argument: %s", name, s)
			return
		}
	}
}

// find reads the arguments of find.
func (v *visitor) find(args []word) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.split && strings.ContainsRune("$*?[{`\"@+!", rune(a.text[0])) {
			v.opaque("what find does is known only when it runs (%s)", a.text)
		}
		switch a.text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && args[end-1].text == "{}") {
				end++
			}
			words := slices.Clone(args[min(i+1, len(args)):end])
			if slices.ContainsFunc(words, runsCommand) {
				v.opaque("find may run a program that was not checked: %s",
					join(args)) // the first may be what a test looks for
			}
			for j, w := range words {
				if strings.Contains(w.text, "{}") {
					words[j].known = false
				}
			}
			v.runs("find", words, nil)
			i = end
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				i++
				v.write(args[i])
				if runsCommand(args[i]) {
					v.opaque("find may run a program that was not checked: %s", join(args))
				}
			}
		case "-delete":
			v.lower(engine.Readable, "find deletes the files that it finds")
		}
	}
}

// runsCommand reports whether a word is an action of find's that runs a program.
func runsCommand(w word) bool {
	return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.text)
}

// fd reads the arguments of fd.
func (v *visitor) fd(args []word) {
	for i, a := range args {
		if s := a.text; s == "-x" || s == "-X" || s == "--exec" || s == "--exec-batch" {
			if slices.ContainsFunc(args[i+1:], func(w word) bool { return w.text == ";" }) {
				v.opaque("fd runs more than one command: %s", join(args))
			}
			v.runs("fd", append(slices.Clone(args[i+1:]), word{text: "(input)", split: true}), nil)
			return
		} else if strings.HasPrefix(s, "--exec") || len(s) > 1 && s[0] == '-' && s[1] != '-' &&
			strings.ContainsAny(s, "xX") || a.split {
			v.opaque("fd may run a program that was not checked: %s", s)
		}
	}
}

// ssh reads the arguments of ssh: the words behind the host are a script.
func (v *visitor) ssh(p *program.Program, args []word) {
	v.lower(engine.Readable, "ssh runs a command on another machine")
	rest, _, ok := v.wrapped("ssh", p, args)
	if !ok || len(rest) > 0 && rest[0].known && strings.HasPrefix(rest[0].text, "-") {
		v.opaque("ssh may run a program that was not checked: %s", join(args))
		return
	}
	v.runsScript("ssh", rest)
}

// su reads the arguments of programs that run a script behind -c, or else a
// shell.
func (v *visitor) su(name string, args []word) {
	for i, a := range args {
		if (a.text == "-c" || a.text == "--command" || name == "script" && a.text == "-qc") &&
			i+1 < len(args) && args[i+1].known {
			if name == "script" {
				v.typescript(slices.Concat(args[:i], args[i+2:]))
			} else {
				v.leaveDir()
			}
			v.text(args[i+1].text, name)
			return
		}
		if !a.known {
			break
		}
	}
	v.opaque("%s may run a program that was not checked: %s", name, join(args))
}

// typescript notes the files that the program script writes, given its other arguments.
func (v *visitor) typescript(others []word) {
	others = slices.DeleteFunc(others, func(w word) bool { return w.known && strings.HasPrefix(w.text, "-") })
	if len(others) == 0 {
		others = []word{{text: "typescript", known: true}}
	}
	for _, w := range others {
		v.write(w)
	}
}

// container reads the arguments of programs that run others in containers.
func (v *visitor) container(name string, p *program.Program, args []word) {
	if p.Grammar == "container" {
		args = skip(args, "container") // docker container run is docker run
	}
	for len(args) > 1 && p.Takes(args[0].text) && args[1].known {
		args = args[2:]
	}
	if len(args) == 0 {
		return
	}
	sub, _ := p.Command(args[0].text)
	rest, ok := []word(nil), false
	switch {
	case !args[0].known, strings.HasPrefix(args[0].text, "-"):
		v.opaque("%s may do more than was checked: %s", name, join(args))
		return
	case slices.Contains(sub.Usage, "--"):
		i := slices.IndexFunc(args, func(w word) bool { return w.text == "--" })
		rest, ok = args[i+1:], i > 0
	case sub.Usage != nil:
		rest, _, ok = v.wrapped(name, sub, args[1:])
	case sub.Is(program.Launches), args[0].text == "compose" && slices.ContainsFunc(args, func(w word) bool { return w.text == "run" || w.text == "exec" }):
	default:
		if sub.Is(program.Starts) {
			v.lower(engine.Readable, "%s %s runs programs of its own", name, args[0].text)
		}
		return
	}
	if !ok {
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
		return
	}
	v.runs(name, rest, nil)
}
