package script

import (
	"slices"
	"strings"
)

// A maker is a program that writes to files which its arguments name.
type maker struct {
	options
	each  bool // it writes to every operand; else to the last one, or into it
	alone bool // of a single operand it writes to the name in the working directory
	makes bool // with -d it makes directories of its operands
}

// into are the options of those that do not write to each operand which name a
// directory to write into.
const into = "target-directory"

// makers are the makers that are known. What one writes to is told if all of
// its arguments are understood, and not guessed. A backup that it makes beside
// is not.
var makers = map[string]maker{
	"cp": {options: options{flags: "abdfiHlLnPpRrsuvxTZ", valued: "tS", longer: []string{into, "suffix", "sparse", "no-preserve"},
		long: []string{"archive", "attributes-only", "backup", "copy-contents", "force", "interactive", "link", "dereference", "no-clobber", "no-dereference", "preserve",
			"parents", "recursive", "reflink", "remove-destination", "strip-trailing-slashes", "symbolic-link", "no-target-directory", "update", "verbose", "one-file-system", "debug"}}},
	"mv": {options: options{flags: "bfinuvTZ", valued: "tS", longer: []string{into, "suffix"},
		long: []string{"backup", "force", "interactive", "no-clobber", "strip-trailing-slashes", "no-target-directory", "update", "verbose", "debug", "no-copy"}}},
	"ln": {options: options{flags: "bdFfiLnPrsvT", valued: "tS", longer: []string{into, "suffix"},
		long: []string{"backup", "directory", "force", "interactive", "logical", "no-dereference", "physical", "relative", "symbolic", "no-target-directory", "verbose"}}, alone: true},
	"install": {options: options{flags: "bcCdDpsvT", valued: "gmotS", longer: []string{into, "suffix", "group", "mode", "owner"},
		long: []string{"backup", "compare", "directory", "preserve-timestamps", "strip", "no-target-directory", "verbose"}}, makes: true},
	"touch": {options: options{flags: "acfhm", valued: "drt", longer: []string{"date", "reference", "time"}, long: []string{"no-create", "no-dereference"}}, each: true},
}

// A writing is what the arguments of a maker say.
type writing struct {
	operands []word
	into     *word // the directory that is written into, if an option names it
	each     bool  // every operand is written to
	exact    bool  // the last operand is no directory to write into
	parents  bool  // below the directory, the whole path of an operand is written to
}

// writes tells which files a program writes to.
func (v *visitor) writes(name string, args []word) {
	m, ok := makers[name]
	if !ok {
		return
	}
	is, ok := m.read(args)
	if !ok {
		return
	}
	n := len(is.operands)
	switch {
	case is.each:
		for _, a := range is.operands {
			if !a.split || begun(a.text) {
				v.note(a)
				if name == "touch" {
					v.opened(a, word{known: true})
				}
			}
		}
	case is.into != nil:
		v.below(*is.into, is.operands, is.parents)
	case n == 1 && m.alone:
		v.below(word{text: ".", known: true}, is.operands, false)
	case n < 2, is.operands[n-1].split && !begun(is.operands[n-1].text):
	default:
		to, from := is.operands[n-1], is.operands[:n-1]
		several := n > 2 && !slices.ContainsFunc(from, func(a word) bool { return a.split })
		if to.known && !is.exact && (several || strings.HasSuffix(to.text, "/") || to.text == "." || to.text == "..") {
			v.below(to, from, is.parents)
		} else {
			v.note(to)
		}
		if name == "cp" && n == 2 && !from[0].split && !slices.ContainsFunc(args, unusual) {
			v.opened(to, from[0])
		}
	}
}

// unusual reports whether a, an argument of cp, is an option with which it may
// do something else than to open the file it copies to.
func unusual(a word) bool {
	usual := []string{"--", "--archive", "--dereference", "--force", "--no-target-directory", "--preserve", "--recursive", "--verbose"}
	return strings.HasPrefix(a.text, "-") && strings.Trim(a.text[1:], "afHLpRrTvx") != "" && !slices.Contains(usual, a.text)
}

// below tells what is written for each of from in the directory to.
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

// read takes args apart. It reports false if that can't be done for certain.
func (m maker) read(args []word) (is writing, ok bool) {
	is.each = m.each
	ended := false
	for len(args) > 0 {
		values := 0
		switch a := args[0]; {
		case !a.known && !ended && !begun(a.text):
			return is, false
		case ended, !a.known, a.text == "-", !strings.HasPrefix(a.text, "-"):
			is.operands = append(is.operands, a)
		case a.text == "--":
			ended = true
		default:
			var found []option
			if found, values, ok = m.take(args); !ok {
				return is, false
			}
			for _, o := range found {
				is.option(m, o)
			}
		}
		args = args[1+values:]
	}
	return is, true
}

// begun reports whether a word that is not known begins as it is written, with
// what begins no option, however many words it becomes.
func begun(text string) bool {
	return text != "" && !strings.ContainsAny(text, "$`<>(") && !strings.ContainsAny(text[:1], "-*?[{'\"\\+!@")
}

// option notes what an option says.
func (is *writing) option(m maker, o option) {
	switch o.name {
	case "T", "no-target-directory":
		is.exact = true
	case "d", "directory":
		is.each = is.each || m.makes
	case "parents":
		is.parents = true
	case "t", into:
		if !m.each {
			is.into = &o.value
		}
	}
}
