package script

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/shell/program"
)

// dangerousOptions reads the options with an Effect in the arguments of name, by the entries
// of the program and of its command.
func (v *visitor) dangerousOptions(name string, args []word, entries ...*program.Program) {
	ended, tar := false, entries[0].Grammar == "tar"
	if tar && len(args) > 0 && !strings.HasPrefix(args[0].text, "-") { // tar accepts letters without a dash, too
		args = slices.Clone(args)
		args[0].text = "-" + args[0].text
	}
	for i, a := range args {
		ended = ended || !tar && ends(args, i) // its letters take values from later words
		for _, p := range entries {
			for o := range p.Matching(a.text) {
				if !ended || o.Spelling[0] != '-' {
					v.option(name, o, args[i:])
				}
			}
		}
	}
}

// option records the effect of the option in args[0]. If the value is not in args[0], it is
// args[1].
func (v *visitor) option(name string, o program.ParsedOption, args []word) {
	value := word{text: o.Value, known: args[0].known}
	given := o.Inside || len(args) > 1
	if given && !o.Inside {
		value = args[1]
	}
	switch runs := o.Effect == program.Runs; {
	case runs, o.Effect == program.Merges && !(value.known && slices.Contains(strategies, value.text)):
		v.opaque("%s may run a program named by an option: %s", name, args[0].text)
	case o.Effect == program.Alters:
		v.lower(engine.Readable, "%s may write what an option says: %s", name, args[0].text)
	case !given, value.known && value.text == "/dev/null":
	case o.Effect == program.Written:
		v.write(value)
	}
}

// readsInput reports whether a makes make read a makefile from standard input or a device.
func readsInput(a word) bool {
	return strings.HasSuffix(a.text, "=-") || strings.HasPrefix(a.text, "-") &&
		strings.HasSuffix(a.text, "f-") || a.text == "-" || strings.Contains(a.text, "/dev/") ||
		strings.Contains(a.text, "/proc/")
}

// ends reports whether args[i] ends the options. Behind another option, "--" may be its
// value.
func ends(args []word, i int) bool {
	return args[i].text == "--" && (i == 0 || args[i-1].known && !strings.HasPrefix(args[i-1].text, "-"))
}

// awk reads the arguments of awk: its program may run others and write files.
func (v *visitor) awk(name string, args []word) {
	for i := 0; i < len(args); i++ {
		switch s := args[i].text; {
		case !args[i].known:
			v.opaque("what %s runs is known only when it runs (%s)", name, s)
			return
		case s == "-F" || s == "-v":
			i++
		case strings.HasPrefix(s, "-F"), strings.HasPrefix(s, "-v"), s == "--":
		case strings.HasPrefix(s, "-"):
			v.opaque("%s may run a program named by an option: %s", name, s)
			return
		default:
			code := strings.NewReplacer(">=", "", "||", "").Replace(s) // comparison operators
			if strings.ContainsAny(code, "|>@") || strings.Contains(s, "system") || strings.Contains(s, "getline") {
				v.opaque("the %s script may run programs or write files: %s", name, s)
			}
			return
		}
	}
}

// sed reads the arguments of sed: its scripts may run programs and write
// files.
func (v *visitor) sed(p *program.Program, args []word) {
	scripts, inPlace, bare := false, false, []word(nil)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch s := a.text; {
		case !a.known:
			v.opaque("which files sed changes is known only when it runs (%s)", s)
			return
		case s == "-e" || s == "--expression":
			if i++; i < len(args) {
				v.edits(args[i])
			}
			scripts = true
		case s == "-f", strings.HasPrefix(s, "--f"), strings.HasPrefix(s, "--e"):
			v.unchecked("sed", args[i:])
			return
		case editsInPlace(s):
			v.lower(engine.Readable, "sed writes the files it reads")
			inPlace = true
		case len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], p.Flags) != "" && s != "--" && !p.Has(s):
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

// editsInPlace reports whether an argument may make sed write its input files.
func editsInPlace(s string) bool {
	return strings.HasPrefix(s, "--i") || strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.ContainsRune(s, 'i')
}

// edits reads a script of sed. Only simple scripts are known to be harmless.
func (v *visitor) edits(w word) {
	if !w.known || !IsPrinting(w.text) {
		v.opaque("the sed script may run programs or write files: %s", w.text)
	}
}

// second reads the arguments of a program that writes to a second file.
func (v *visitor) second(name string, p *program.Program, args []word) {
	files := 0
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a.split:
			v.opaque("where %s writes is known only when it runs (%s)", name, a.text)
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
