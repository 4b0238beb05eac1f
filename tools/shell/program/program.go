package program

import (
	"slices"
	"strings"
)

// A Fact is something that is always true of a program.
type Fact string

// The facts.
const (
	Looks       Fact = "looks"       // it changes nothing, whatever its arguments, where it can't write
	Lists       Fact = "lists"       // it looks, and shows of a repository what is listed and not what is in files; one that looks, too, does so with some options
	Records     Fact = "records"     // it adds to a repository, and loses nothing that is in it
	Reads       Fact = "reads"       // it looks, and reads what its arguments name and its input, but for options that are here
	Names       Fact = "names"       // it shows names, sizes and modes of files, never what is in them
	Dials       Fact = "dials"       // it wants a network
	Gets        Fact = "gets"        // it gets what it runs from the network, if the project does not have it
	Removes     Fact = "removes"     // it takes away what its operands name
	Changes     Fact = "changes"     // it changes what its operands name
	Writes      Fact = "writes"      // it writes to what one of its arguments names
	Broad       Fact = "broad"       // its name says too little of what it does to allow all of it
	Commands    Fact = "commands"    // its name and its command together say enough
	Runner      Fact = "runner"      // a word somewhere in its arguments says which program it runs
	Launches    Fact = "launches"    // it runs others in ways that are not read
	Starts      Fact = "starts"      // it runs programs of its own, which are not told
	Shell       Fact = "shell"       // it runs scripts
	Interpreter Fact = "interpreter" // it runs what a file or an argument says
	Language    Fact = "language"    // one of its arguments is text of a language in which commands can be run
	Away        Fact = "away"        // what it runs, it runs in another directory or under another root
	Many        Fact = "many"        // it is many programs: the name by which it is called says which
	GNU         Fact = "gnu"         // where there is another one of that name, it has a g in front of its own
)

var facts = []Fact{Looks, Lists, Records, Reads, Names, Dials, Gets, Removes, Changes, Writes, Broad, Commands,
	Runner, Launches, Starts, Shell, Interpreter, Language, Away, Many, GNU}

// lasting are the facts that are true of every version of a program.
var lasting = []Fact{Broad, Launches, Shell, Interpreter}

// A Program is an entry of the book. The zero Program is one of which nothing
// is known.
type Program struct {
	Names    []string // as [Fold] returns them; of a command, behind the program's
	Grammar  string   // what reads its arguments, if that is more than options
	Usage    []string // of one that runs a command: what stands behind its options
	Writes   string   // to which operands of its own: each, last, or none
	Options  []Option
	Flags    string   // the letters of the options without a value
	Examples []string // a command line, " => ", and what is told of it

	valued  string // the letters of the others
	as      string // the program whose commands it has
	facts   []Fact
	looks   []string // the first words with which it does; none is always
	lists   []string // the same
	records []string // the same
	dials   []string // the words with which it does; none is always
}

// Find returns what is known of a program by its name.
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

// Fold returns the name of a program as the book has it.
func Fold(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if rest, ok := strings.CutPrefix(name, "g"); ok {
		if p, ok := read().programs[rest]; ok && p.Is(GNU) {
			return rest
		}
	}
	return name
}

// Command returns what is known of a command of p's, and whether it has an
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

// LooksAt reports whether p looks with these words, of which only the first
// counts.
func (p *Program) LooksAt(words []string) bool { return p.Is(Looks) && begins(words, p.looks) }

// ListsAt reports whether p lists with these words, of which only the first
// counts.
func (p *Program) ListsAt(words []string) bool { return p.Is(Lists) && begins(words, p.lists) }

// RecordsAt reports whether p records with these words. Where the book names none, it
// does with all. With NAME it does so if there is an operand, and no option but
// those of the entry.
func (p *Program) RecordsAt(words []string) bool {
	if !slices.Contains(p.records, "NAME") {
		return p.Is(Records) && begins(words, p.records)
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

// begins reports whether the first of words is one of list, in which "nothing"
// is that there is none. All are of an empty list.
func begins(words, list []string) bool {
	return len(list) == 0 || slices.Contains(list, append(slices.Clone(words), "nothing")[0])
}

// DialsAt returns the first of the words given to p with which it wants a
// network, and whether it does. It may be one that does with any.
func (p *Program) DialsAt(words []string) (word string, ok bool) {
	if len(p.dials) == 0 {
		return "", p.Is(Dials)
	}
	i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(p.dials, w) })
	if i < 0 {
		return "", false
	}
	return words[i], true
}

// Steers reports whether a variable of that name makes programs run others, or
// other code.
func Steers(name string) bool {
	return slices.ContainsFunc(read().variables, func(pattern string) bool {
		begin, end, any := strings.Cut(pattern, "*")
		return name == pattern || any && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
	})
}
