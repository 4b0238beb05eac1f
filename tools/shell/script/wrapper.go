package script

import (
	"slices"
	"strings"

	"gemline/tools/shell/program"
)

// wrapper reads the arguments of a program that runs the command at their end.
func (v *visitor) wrapper(name string, p *program.Program, args []word) {
	if p.Is(program.Away) {
		v.leaveDir()
	}
	if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return // it only describes a name
	}
	rest, env, ok := v.wrapped(name, p, args)
	more := slices.Contains(p.Usage, "INPUT...")
	switch {
	case !ok:
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
		return
	case len(rest) == 0 && more:
		return // xargs echoes
	case slices.Contains(p.Usage, "SCRIPT"):
		v.runsScript(name, rest)
		return
	case more:
		rest = append(slices.Clone(rest), word{text: "(input)", split: true})
	}
	v.runs(name, rest, env)
}

// wrapped returns the command behind the options and operands of p, and the variables set
// for it. It reports false if the command is uncertain.
func (v *visitor) wrapped(name string, p *program.Program, args []word) (rest []word, env []string, ok bool) {
	replace := "" // the placeholder for input
	given := texts(args)
	sets := slices.Contains(p.Usage, "NAME=VALUE...")
	set := func() bool {
		key, value, ok := strings.Cut(args[0].text, "=")
		if ok = ok && sets && args[0].known; ok {
			v.set(key, word{text: value, known: true})
			env, args = append(env, args[0].text), args[1:]
		}
		return ok
	}
	for len(args) > 0 && args[0].text != "--" {
		if !args[0].known {
			return nil, nil, false
		}
		if option := strings.HasPrefix(args[0].text, "-") && (len(args[0].text) > 1 || p.Has("-")); !option && !set() {
			break
		} else if !option {
			continue
		}
		found, values, ok := p.Take(given[len(given)-len(args):])
		if !ok || values > 0 && !args[1].known {
			return nil, nil, false
		}
		for _, o := range found {
			switch o.Effect {
			case program.Replaces:
				replace = o.Value
			case program.Goes:
				v.leaveDir()
			}
		}
		args = args[1+values:]
	}
	if len(args) == 0 {
		return nil, env, true
	}
	args = skip(args, "--")
	for _, want := range p.Usage {
		switch want {
		case "NAME=VALUE...":
			for len(args) > 0 && set() {
			}
		case "COMMAND", "SCRIPT", "INPUT...":
		case "[-c]":
			if len(args) > 0 && args[0].known && strings.HasPrefix(args[0].text, "-") {
				if args[0].text != "-c" || len(args) != 2 || !args[1].known {
					return nil, nil, false
				}
				v.text(args[1].text, name)
				return nil, env, true
			}
		default:
			if len(args) == 0 || args[0].split || want == "NUMBER" && strings.Trim(args[0].text, "0123456789") != "" {
				return nil, nil, false
			}
			args = args[1:]
		}
	}
	if replace != "" {
		args = slices.Clone(args)
		for i, a := range args {
			args[i].known = a.known && !strings.Contains(a.text, replace)
		}
	}
	return args, env, true
}

// texts returns the texts of words.
func texts(words []word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return all
}
