package program

import (
	"slices"
	"strings"
)

// A Fact is something that is always true of a program.
type Fact string

// The facts.
const (
	Looks       Fact = "looks"       // it changes nothing with any arguments if the sandbox denies writes
	Lists       Fact = "lists"       // like looks, but shows a repository's listings, never contents; beside looks, with some options
	Records     Fact = "records"     // it adds to a repository, and removes nothing from it
	Reads       Fact = "reads"       // like looks; reads its input and the files named by arguments, but for options here; of git: changes no repository
	Names       Fact = "names"       // it shows names, sizes and modes of files, never their contents
	Dials       Fact = "dials"       // it wants a network
	Gets        Fact = "gets"        // it downloads the program to run if the project does not have it
	Removes     Fact = "removes"     // it removes its operands
	Changes     Fact = "changes"     // it changes its operands
	Writes      Fact = "writes"      // it writes to the file that an argument names
	Broad       Fact = "broad"       // it does too much to be allowed by name alone
	Commands    Fact = "commands"    // it may be allowed by name and command
	Runner      Fact = "runner"      // a word somewhere in its arguments says which program it runs
	Launches    Fact = "launches"    // it runs other programs in ways that are not parsed
	Starts      Fact = "starts"      // it runs its own programs, which are not reported
	Shell       Fact = "shell"       // it runs scripts
	Interpreter Fact = "interpreter" // it runs code from a file or an argument
	Language    Fact = "language"    // an argument is code that can run commands
	Away        Fact = "away"        // it runs commands in another directory or under another root
	Many        Fact = "many"        // it is many programs in one file, selected by the name in argv[0]
	GNU         Fact = "gnu"         // it is installed with a leading g where another program has its name
)

var facts = []Fact{Looks, Lists, Records, Reads, Names, Dials, Gets, Removes, Changes, Writes, Broad, Commands,
	Runner, Launches, Starts, Shell, Interpreter, Language, Away, Many, GNU}

// lasting are the facts that are true of every version of a program.
var lasting = []Fact{Broad, Launches, Shell, Interpreter}

// A Program is an entry of the book. The zero Program stands for an unknown program.
type Program struct {
	Names    []string // as [Fold] returns them; a command's name follows the program's
	Grammar  string   // the code that reads its arguments, if it has a grammar of its own
	Usage    []string // the words behind its options, if it runs a command
	Writes   string   // to which operands of its own: each, last, or none
	Options  []Option
	Flags    string   // the letters of the options without a value
	Examples []string // a command line, " => ", and the expected reading

	valued string // the letters of the options with a value
	as     string // the program whose commands it has
	facts  []Fact
	at     map[Fact][]string // first words for which a fact is true (any words for Dials); no words mean always
}

// Find returns the table's entry for a program's name.
func Find(name string) *Program {
	b := read()
	name = Fold(name)
	if p, ok := b.programs[name]; ok {
		return p
	}
	for _, begin := range b.begins {
		if strings.HasPrefix(name, begin) {
			return b.programs[begin+"*"]
		}
	}
	version := &Program{}
	if p, ok := b.programs[strings.TrimRight(name, "0123456789.-")]; ok {
		version.Names = p.Names
		version.facts = slices.DeleteFunc(slices.Clone(p.facts),
			func(f Fact) bool { return !slices.Contains(lasting, f) })
		if p.Is(Interpreter) {
			version.Grammar = p.Grammar
		}
	}
	return version
}

// Fold returns the normalised name of a program.
func Fold(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if rest, ok := strings.CutPrefix(name, "g"); ok {
		if p, ok := read().programs[rest]; ok && p.Is(GNU) {
			return rest
		}
	}
	return name
}

// Command returns the entry for p's subcommand name; ok reports whether the book has an
// entry.
func (p *Program) Command(name string) (c *Program, ok bool) {
	of := p.as
	if of == "" && p.Names != nil {
		of = p.Names[0]
	}
	if c, ok = read().commands[of+" "+name]; !ok {
		c = &Program{}
	}
	return c, ok
}

// Is reports whether f is true of p.
func (p *Program) Is(f Fact) bool { return slices.Contains(p.facts, f) }

// LooksAt reports whether p is read-only with these words. Only the first word counts.
func (p *Program) LooksAt(words []string) bool { return p.begins(Looks, words) }

// ListsAt reports whether p lists with these words. Only the first word counts.
func (p *Program) ListsAt(words []string) bool { return p.begins(Lists, words) }

// RecordsAt reports whether p records with these words. If the book lists no words, all
// words match. NAME in the book requires an operand, and no options outside of the entry.
func (p *Program) RecordsAt(words []string) bool {
	if !slices.Contains(p.at[Records], "NAME") {
		return p.begins(Records, words)
	}
	names := 0
	for len(words) > 0 {
		values := 0
		if strings.HasPrefix(words[0], "-") {
			_, n, ok := p.Take(words)
			if !ok {
				return false
			}
			values = n
		} else {
			names++
		}
		words = words[1+values:]
	}
	return names > 0
}

// ReadsAt reports whether p changes nothing with these words, even if it may write. Options
// count, too, if the book lists options.
func (p *Program) ReadsAt(words []string) bool {
	isOption := func(w string) bool { return strings.HasPrefix(w, "-") }
	return p.begins(Reads, words) && !(slices.ContainsFunc(p.at[Reads], isOption) &&
		slices.ContainsFunc(words, func(w string) bool {
			w, _, _ = strings.Cut(w, "=")
			return isOption(w) && !slices.Contains(p.at[Reads], w)
		}))
}

// begins reports whether f is true of p with these words; "nothing" in the book stands for
// no words at all.
func (p *Program) begins(f Fact, words []string) bool {
	return p.Is(f) && (p.at[f] == nil || slices.Contains(p.at[f], append(slices.Clone(words), "nothing")[0]))
}

// DialsAt returns the first word that makes p dial, and whether p dials. The word is "" for
// a program that dials with any words.
func (p *Program) DialsAt(words []string) (word string, ok bool) {
	if p.at[Dials] == nil {
		return "", p.Is(Dials)
	}
	i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(p.at[Dials], w) })
	if i < 0 {
		return "", false
	}
	return words[i], true
}

// IsSteering reports whether the variable name makes programs run other programs or code.
func IsSteering(name string) bool {
	return slices.ContainsFunc(read().variables, func(pattern string) bool {
		begin, end, any := strings.Cut(pattern, "*")
		return name == pattern || any && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
	})
}
