package flags

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/engine/text"
)

// arrange moves the flags before the words, each with its value in the same argument. So users may
// mix words and flags, a value may begin with a hyphen, and gemline words the errors. A word that
// is a flag is not the value of the flag before it, which then lacks a value.
func arrange(k *kong.Kong, args []string) ([]string, error) {
	names := namesOf(k)
	var flags, words []string
	seen := map[string]bool{}
	for len(args) > 0 {
		if args[0] == "--" {
			words = append(words, args[1:]...)
			break
		}
		fl, value, given, rest := names.take(args)
		if fl == nil && isFlag(args[0]) {
			name, _, _ := strings.Cut(args[0], "=")
			return nil, unknown(name, names.long)
		}
		if fl == nil {
			words, args = append(words, args[0]), rest
			continue
		}
		if args = rest; !given && !fl.IsBool() {
			return nil, names.missing(fl, args)
		}
		if given {
			if err := senseless(fl, value); err != nil {
				return nil, err
			}
		}
		if seen[fl.Name] && (fl.Name == "prompt" || fl.Name == "prompt-interactive") {
			return nil, usage("--%s is given twice", fl.Name)
		}
		seen[fl.Name] = true
		flag := "--" + fl.Name
		if given {
			flag += "=" + value
		}
		flags = append(flags, flag)
	}
	if len(words) > 0 {
		flags = append(append(flags, "--"), words...)
	}
	return flags, nil
}

// blank are the flags for which an empty value has a meaning.
var blank = []string{"prompt", "prompt-interactive", "model", "resume", "extract", "sandbox",
	"extensions", "include-directories"}

// senseless refuses a value that would reverse the meaning of a flag. An empty value, mostly of an
// unset variable, would switch a flag off; a limit of zero would be no limit. A negative number is
// invalid.
func senseless(fl *kong.Flag, value string) error {
	if value == "" && !slices.Contains(blank, fl.Name) {
		return usage("--%s needs a value, and has an empty one", fl.Name)
	}
	limits := strings.HasPrefix(fl.Name, "max-")
	bounds := limits && fl.Name != "max-repairs" || fl.Name == "jobs"
	if n, err := strconv.ParseFloat(value, 64); bounds && err == nil && n == 0 {
		return usage("--%s must be above zero", fl.Name)
	}
	counts := limits && fl.Name != "max-cost" || fl.Name == "check-rounds"
	if n, err := strconv.ParseInt(value, 0, 64); counts && err == nil && n < 0 {
		return usage("--%s must not be negative", fl.Name)
	}
	return nil
}

// flagNames are the flags by name.
type flagNames struct{ long, short map[string]*kong.Flag }

func namesOf(k *kong.Kong) flagNames {
	n := flagNames{map[string]*kong.Flag{}, map[string]*kong.Flag{}}
	for _, fl := range k.Model.Flags {
		n.long[fl.Name] = fl
		for _, a := range fl.Aliases {
			n.long[a] = fl
		}
		if fl.Short != 0 {
			n.short[string(fl.Short)] = fl
		}
	}
	return n
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "-" }

// take returns the flag at the start of args, nil for a word or an unknown flag, with its value, if
// given, and the rest.
func (n flagNames) take(args []string) (fl *kong.Flag, value string, given bool, rest []string) {
	arg, rest := args[0], args[1:]
	if !isFlag(arg) {
		return nil, "", false, rest
	}
	name, value, given := strings.Cut(arg, "=")
	switch {
	case strings.HasPrefix(name, "--"):
		fl = n.long[kebab(name[2:])]
		if off := n.long[strings.TrimPrefix(kebab(name[2:]), "no-")]; fl == nil && off != nil &&
			off.IsBool() && !given {
			return off, "false", true, rest
		}
	case len(name) > 2 && n.short[name[1:2]] != nil: // -ovalue, or several switches in one word
		more := strings.TrimPrefix(arg, name[:2])
		if fl = n.short[name[1:2]]; fl.IsBool() && !optional(fl) {
			return fl, "", false, append([]string{"-" + more}, rest...)
		}
		return fl, strings.TrimPrefix(more, "="), true, rest
	default:
		fl = n.short[name[1:]]
	}
	switch {
	case fl == nil, given, fl.IsBool() && !optional(fl), len(rest) == 0,
		optional(fl) && strings.HasPrefix(rest[0], "-"), n.exactly(rest[0]):
		return fl, value, given, rest
	}
	return fl, rest[0], true, rest[1:]
}

// exactly reports whether arg is a single flag in its listed form, perhaps with a value after an
// equals sign, or the mark that ends the flags. Joined switches are not.
func (n flagNames) exactly(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	switch {
	case arg == "--":
		return true
	case strings.HasPrefix(name, "--"):
		off := n.long[strings.TrimPrefix(kebab(name[2:]), "no-")]
		return n.long[kebab(name[2:])] != nil || off != nil && off.IsBool()
	}
	return isFlag(name) && n.short[name[1:]] != nil
}

// missing returns the error of the flag fl without a value, before args.
func (n flagNames) missing(fl *kong.Flag, args []string) error {
	if len(args) == 0 {
		return usage("--%s needs a value", fl.Name)
	}
	if args[0] == "--" {
		return usage("--%s needs a value, and -- ends the flags", fl.Name)
	}
	return usage("--%s needs a value, and %.100s is a flag; if it is the value, write --%[1]s=%.100[2]s", fl.Name, args[0])
}

// Subcommand finds the sub-command of a command line: its first word, if names contains it and no
// flag before it gives a prompt. It returns the arguments before the sub-command, and the others,
// or nothing without a sub-command.
func Subcommand(args, names []string) (before, from []string, ok bool) {
	if !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(names, arg) }) {
		return nil, nil, false // the usual case, which avoids the parser's millisecond
	}
	k, err := parser(&Set{})
	if err != nil {
		return nil, nil, false
	}
	wants := map[string]bool{} // flags whose value is the next argument
	for _, fl := range k.Model.Flags {
		if fl.IsBool() {
			continue
		}
		wants["--"+fl.Name] = true
		if fl.Short != 0 {
			wants["-"+string(fl.Short)] = true
		}
	}
	for i := 0; i < len(args); i++ {
		name, _, _ := strings.Cut(args[i], "=")
		switch arg := args[i]; {
		case arg == "--", arg == "-":
			return nil, nil, false
		case slices.Contains([]string{"-p", "--prompt", "-i", "--prompt-interactive"}, kebab(name)):
			return nil, nil, false // a flag gives the prompt, so words are no sub-command
		case !strings.HasPrefix(arg, "-"):
			if !slices.Contains(names, arg) {
				return nil, nil, false
			}
			return args[:i:i], args[i:], true
		case wants[arg], wants[kebab(arg)]:
			i++
		}
	}
	return nil, nil, false
}

func optional(fl *kong.Flag) bool {
	return fl.Target.Type() == reflect.TypeOf(Optional{})
}

// kebab converts a flag in camelCase into its usual spelling.
func kebab(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unknown returns the error for an unknown flag, which names the nearest flag.
func unknown(name string, long map[string]*kong.Flag) error {
	if err := lacks(name); err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Sorted(maps.Keys(long)), func(n string) bool { return long[n].Hidden })
	best := text.Nearest(bare(name), shown)
	if best == "" {
		return usage("unknown flag %.100s; see gemline --help", name)
	}
	return usage("unknown flag %.100s; did you mean --%s?", name, best)
}

// bare returns a flag without its hyphens.
func bare(name string) string { return strings.TrimLeft(name, "-") }

// OutputOf returns the format and the destination of the output in a command line that can't be
// parsed, as far as they are readable: a user who asked for JSON gets the error in JSON.
func OutputOf(args []string) *Set {
	var f Set
	k, err := parser(&Set{})
	if err != nil {
		return &f
	}
	names := namesOf(k)
	for len(args) > 0 && args[0] != "--" {
		fl, value, given, rest := names.take(args)
		args = rest
		switch {
		case fl == nil:
		case fl.Name == "json" && (!given || value == "true"):
			f.OutputFormat = "json"
		case fl.Name == "output-format" && value != "" && slices.Contains(strings.Split(fl.Tag.Enum, ","), value):
			f.OutputFormat = value
		case fl.Name == "input-format" && value == "stream-json":
			f.InputFormat = value
		case fl.Name == "json-fd":
			if n, err := strconv.Atoi(value); err == nil && n > 2 {
				f.JSONFd = &n
			}
		}
	}
	return &f
}
