package script

import (
	"slices"
	"strings"

	"gemline/tools/shell/program"
)

// A writing is the parsed arguments of a program that writes to its operands.
type writing struct {
	operands []word
	into     *word // the directory that is written into, if an option names it
	each     bool  // every operand is written to
	exact    bool  // the last operand is no directory to write into
	parents  bool  // below the directory, the whole path of an operand is written to
}

// writes records the files that a program writes to, if all its arguments are understood.
// Backup files are not recorded.
func (v *visitor) writes(p *program.Program, args []word) {
	if p.Writes == "" {
		return
	}
	is, ok := written(p, args)
	if !ok {
		return
	}
	n := len(is.operands)
	switch {
	case is.each:
		for _, a := range is.operands {
			if !a.split || fixedStart(a.text) {
				v.note(a)
			}
		}
	case is.into != nil:
		v.below(*is.into, is.operands, is.parents)
	case n == 1 && p.Writes == "last or here":
		v.below(word{text: ".", known: true}, is.operands, false)
	case n < 2, is.operands[n-1].split && !fixedStart(is.operands[n-1].text):
	default:
		to, from := is.operands[n-1], is.operands[:n-1]
		several := n > 2 && !slices.ContainsFunc(from, func(a word) bool { return a.split })
		if to.known && !is.exact && (several || strings.HasSuffix(to.text, "/") || to.text == "." || to.text == "..") {
			v.below(to, from, is.parents)
		} else {
			v.note(to)
		}
	}
}

// below records the file in the directory to that is written for each of from.
func (v *visitor) below(to word, from []word, parents bool) {
	for _, a := range from {
		name := strings.TrimRight(a.text, "/")
		name = name[strings.LastIndexByte(name, '/')+1:]
		if !to.known || !a.known || parents || name == "" || name == "." || name == ".." {
			v.note(to)
			continue
		}
		dir := strings.TrimSuffix(to.text, "/") + "/"
		if to.text == "." {
			dir = ""
		}
		v.note(word{text: dir + name, known: true})
	}
}

// written parses args. It reports false if the result is uncertain.
func written(p *program.Program, args []word) (is writing, ok bool) {
	is.each = p.Writes == "each"
	given := texts(args)
	for ended := false; len(args) > 0; {
		values := 0
		switch a := args[0]; {
		case !a.known && !ended && !fixedStart(a.text):
			return is, false
		case ended, !a.known, a.text == "-", !strings.HasPrefix(a.text, "-"):
			is.operands = append(is.operands, a)
		case a.text == "--":
			ended = true
		default:
			var found []program.ParsedOption
			if found, values, ok = p.Take(given[len(given)-len(args):]); !ok || values > 0 && args[1].split {
				return is, false
			}
			for _, o := range found {
				switch o.Effect {
				case program.Exact:
					is.exact = true
				case program.Each:
					is.each = true
				case program.Whole:
					is.parents = true
				case program.Into:
					is.into = &word{text: o.Value, known: o.Inside || args[1].known}
				}
			}
		}
		args = args[1+values:]
	}
	return is, true
}

// fixedStart reports whether an unknown word begins with literal text that begins no option,
// however many words it expands to.
func fixedStart(text string) bool {
	return text != "" && !strings.ContainsAny(text, "$`<>(") && !strings.ContainsAny(text[:1], "-*?[{'\"\\+!@")
}
