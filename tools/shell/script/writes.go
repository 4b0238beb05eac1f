package script

import (
	"slices"
	"strings"
)

// A maker is a program that writes to files which its arguments name.
type maker struct {
	flags  string   // letters of options without a value
	valued string   // letters of options with one
	long   []string // long options without a value, or with one behind a = only
	longer []string // long options with one, behind a = or in the next word
	each   bool     // it writes to every operand; else to the last one, or into it
	alone  bool     // of a single operand it writes to the name in the working directory
}

// into are the options of those that do not write to each operand which name a
// directory to write into.
const into = "target-directory"

// makers are the makers that are known. What one writes to is told if all of
// its arguments are understood, and not guessed. A backup that it makes beside
// is not.
var makers = map[string]maker{
	"cp": {flags: "abdfiHlLnPpRrsuvxTZ", valued: "tS", longer: []string{into, "suffix", "sparse", "no-preserve"},
		long: []string{"archive", "attributes-only", "backup", "copy-contents", "force", "interactive", "link", "dereference", "no-clobber", "no-dereference", "preserve",
			"parents", "recursive", "reflink", "remove-destination", "strip-trailing-slashes", "symbolic-link", "no-target-directory", "update", "verbose", "one-file-system", "debug"}},
	"mv": {flags: "bfinuvTZ", valued: "tS", longer: []string{into, "suffix"},
		long: []string{"backup", "force", "interactive", "no-clobber", "strip-trailing-slashes", "no-target-directory", "update", "verbose", "debug", "no-copy"}},
	"ln": {flags: "bdFfiLnPrsvT", valued: "tS", alone: true, longer: []string{into, "suffix"},
		long: []string{"backup", "directory", "force", "interactive", "logical", "no-dereference", "physical", "relative", "symbolic", "no-target-directory", "verbose"}},
	"install": {flags: "bcCdDpsvT", valued: "gmotS", longer: []string{into, "suffix", "group", "mode", "owner"},
		long: []string{"backup", "compare", "directory", "preserve-timestamps", "strip", "no-target-directory", "verbose"}},
	"touch": {flags: "acfhm", valued: "drt", each: true, longer: []string{"date", "reference", "time"}, long: []string{"no-create", "no-dereference"}},
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
	w, ok := makers[name]
	if !ok {
		return
	}
	is, ok := w.read(args)
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
					v.opened(a)
				}
			}
		}
	case is.into != nil:
		v.below(*is.into, is.operands, is.parents)
	case n == 1 && w.alone:
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
	}
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
func (w maker) read(args []word) (is writing, ok bool) {
	is.each = w.each
	ended := false
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch s := a.text; {
		case !a.known && !ended && !begun(s):
			return is, false
		case ended, !a.known, s == "-", !strings.HasPrefix(s, "-"):
			is.operands = append(is.operands, a)
		case s == "--":
			ended = true
		default:
			var values int
			if values, ok = is.option(w, s, args); !ok {
				return is, false
			}
			args = args[values:]
		}
	}
	return is, true
}

// begun reports whether a word that is not known begins as it is written, with
// what begins no option, however many words it becomes.
func begun(text string) bool {
	return text != "" && !strings.ContainsAny(text, "$`<>(") && !strings.ContainsAny(text[:1], "-*?[{'\"\\+!@")
}

// option reads one option, and returns how many words behind it are its value.
func (is *writing) option(w maker, s string, behind []word) (values int, ok bool) {
	key, value, given := "", word{known: true}, false
	if strings.HasPrefix(s, "--") {
		key, value.text, given = strings.Cut(s[2:], "=")
		if !slices.Contains(w.longer, key) {
			is.exact = is.exact || key == "no-target-directory"
			is.each = is.each || key == "directory" && slices.Contains(w.longer, "mode")
			is.parents = is.parents || key == "parents"
			return 0, slices.Contains(w.long, key)
		}
	} else {
		i := strings.IndexAny(s[1:], w.valued)
		letters := s[1:]
		if i >= 0 {
			letters = s[1 : i+1]
			key, value.text = s[i+1:i+2], s[i+2:]
			given = value.text != ""
		}
		if strings.Trim(letters, w.flags) != "" {
			return 0, false
		}
		is.exact = is.exact || strings.Contains(letters, "T")
		is.each = is.each || strings.Contains(letters, "d") && slices.Contains(w.longer, "mode")
		if i < 0 {
			return 0, true
		}
	}
	if !given {
		if len(behind) == 0 || behind[0].split {
			return 0, false
		}
		value, values = behind[0], 1
	}
	if (key == into || key == "t") && !w.each {
		is.into = &value
	}
	return values, true
}
