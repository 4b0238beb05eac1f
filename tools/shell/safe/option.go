package safe

import (
	"slices"
	"strings"
)

// A program is what may be said to a program for it to be safe.
type program struct {
	// options are those that it may be given, in full, each followed by what
	// it takes: nothing, = a word (of long ones behind = or in the next
	// word), =? maybe a word behind =, @ a path. -# is a number.
	options string

	operands operands
	most     int  // operands; 0 means any number
	first    bool // behind the first operand there are no options
	apart    bool // a value is never in the same word as a letter
	dashless bool // a value in a word of its own does not look like an option

	// more says what else keeps what is used from being safe, and may add
	// options to it.
	more func(j *judge, u *usage) string
}

// operands is what the words are that are not options.
type operands int

const (
	paths   operands = iota // files and directories that are read
	pattern                 // a pattern, unless an option says it, and then paths
	words                   // texts
	none
	raw // nothing is an option
)

// A usage is how a program is used.
type usage struct {
	args     []string // as they are to be given to it
	options  []option
	operands []string
	end      int  // where in args further options may be put
	mixed    bool // an option stands behind an operand
	joined   bool // the value of a letter stands in its word
	dashed   bool // a value in a word of its own looks like an option
}

// An option is one that stands in a usage.
type option struct{ name, value string }

// count returns how often one of the options is used.
func (u *usage) count(names ...string) (n int) {
	for _, o := range u.options {
		if slices.Contains(names, o.name) {
			n++
		}
	}
	return n
}

// has reports whether one of the options is used.
func (u *usage) has(names ...string) bool {
	return u.count(names...) > 0
}

// add gives options to the program behind all others, so that they count.
func (u *usage) add(options ...string) {
	u.args = slices.Insert(slices.Clone(u.args), u.end, options...)
	u.end += len(options)
}

// use reads the arguments of a program, and says what keeps them from being
// safe.
func (j *judge) use(p program, args []string) (usage, string) {
	if p.operands == raw {
		u := usage{args: args, operands: args, end: len(args)}
		return u, p.more(j, &u)
	}
	u, why := read(p.options, args)
	switch {
	case why != "":
		return u, why
	case p.first && u.mixed:
		return u, "an option behind another word"
	case p.apart && u.joined:
		return u, "an option and its value in one word"
	case p.dashless && u.dashed:
		return u, "a value that looks like an option"
	}
	for _, o := range u.options {
		if p.takes(o.name) == '@' {
			if why := j.path(o.value); why != "" {
				return u, why
			}
		}
	}
	files := u.operands
	switch p.operands {
	case words:
		files = nil
	case none:
		if len(files) > 0 {
			return u, "a word that is not on the list: " + brief(files[0])
		}
	case pattern:
		if !u.has("-e", "--regexp", "-f", "--file", "--files") && len(files) > 0 {
			files = files[1:]
		}
	}
	if p.most > 0 && len(u.operands) > p.most {
		return u, "too many words: " + brief(u.operands[p.most])
	}
	for _, f := range files {
		if f == "-" {
			continue // its input
		}
		if why := j.path(f); why != "" {
			return u, why
		}
	}
	if p.more != nil {
		if why := p.more(j, &u); why != "" {
			return u, why
		}
	}
	return u, ""
}

// takes returns what an option takes, as program.options says it: a blank for
// nothing, and 0 if there is no such option.
func (p program) takes(name string) byte { return takes(p.options, name) }

func takes(list, name string) byte {
	if strings.ContainsAny(name, " =@") {
		return 0
	}
	for rest := list; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return 0
		}
		end := i + len(name)
		if i == 0 || rest[i-1] == ' ' {
			switch {
			case end == len(rest):
				return ' '
			case strings.HasPrefix(rest[end:], "=?"):
				return '?'
			case rest[end] == ' ' || rest[end] == '=' || rest[end] == '@':
				return rest[end]
			}
		}
		rest = rest[end:]
	}
}

// read tells options from operands, which may stand in any order.
func read(list string, args []string) (u usage, why string) {
	u.args, u.end = args, len(args)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			u.operands, u.end = append(u.operands, args[i+1:]...), i
			return u, ""
		case len(a) < 2 || a[0] != '-':
			u.operands = append(u.operands, a)
			continue
		}
		u.mixed = u.mixed || len(u.operands) > 0
		if number(a[1:]) && takes(list, "-#") != 0 {
			u.options = append(u.options, option{"-#", a[1:]})
			continue
		}
		name, value, given := strings.Cut(a, "=")
		kind := byte(0)
		if word := takes(list, a); strings.HasPrefix(a, "--") {
			kind = takes(list, name)
		} else if len(a) > 2 && !given && (word == ' ' || word == '=') { // such as find's -name
			kind, name = word, a
		} else {
			n, bad := u.letters(list, args[i:])
			if bad != "" {
				return u, bad
			}
			i += n
			continue
		}
		switch {
		case kind == 0, given && kind == ' ':
			return u, "an option that is not on the list: " + brief(a)
		case kind == ' ' || kind == '?' || given:
		case i+1 == len(args):
			return u, "an option without its value: " + brief(a)
		default:
			i++
			value = args[i]
			u.dashed = u.dashed || strings.HasPrefix(value, "-")
		}
		u.options = append(u.options, option{name, value})
	}
	return u, ""
}

// letters reads short options that stand together in the first word, and
// returns how many words behind it belong to them.
func (u *usage) letters(list string, args []string) (further int, why string) {
	a := args[0]
	for i := 1; i < len(a); i++ {
		name, rest := "-"+a[i:i+1], a[i+1:]
		switch takes(list, name) {
		case ' ':
			u.options = append(u.options, option{name, ""})
			continue
		case '?':
			u.options = append(u.options, option{name, rest})
			return 0, ""
		case '=', '@':
			if rest == "" {
				if len(args) == 1 {
					return 0, "an option without its value: " + brief(a)
				}
				rest, further = args[1], 1
				u.dashed = u.dashed || strings.HasPrefix(rest, "-")
			} else {
				u.joined = true
			}
			u.options = append(u.options, option{name, rest})
			return further, ""
		}
		return 0, "an option that is not on the list: " + brief(a)
	}
	return 0, ""
}

func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
