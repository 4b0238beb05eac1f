package program

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed book/*.txt
var files embed.FS

// A book is the parsed entries.
type book struct {
	programs map[string]*Program // by each of their names
	commands map[string]*Program // by the program's name and their own
	begins   []string            // of names that end in *
	entries  []*Program          // each of them once

	variables []string // variables that make programs run others
}

// read returns the book, which is parsed once.
var read = sync.OnceValue(parse)

func newBook() book { return book{programs: map[string]*Program{}, commands: map[string]*Program{}} }

// Entries returns each entry of the book.
func Entries() []*Program { return read().entries }

// parse parses the book. An invalid line is a bug of this package.
func parse() book {
	b := newBook()
	names, _ := fs.Glob(files, "book/*.txt")
	for _, name := range names {
		text, _ := files.ReadFile(name)
		if line, err := b.add(string(text)); err != nil {
			panic(fmt.Sprintf("%s:%d: %v", name, line, err))
		}
	}
	return b
}

// add adds the entries of a text, separated by blank lines. It returns the line number of an
// error.
func (b *book) add(text string) (line int, err error) {
	p := &Program{}
	for l := range strings.Lines(text) {
		line++
		switch words := strings.Fields(l); {
		case len(words) == 0:
			p = &Program{}
		case words[0][0] == '#':
		case words[0] == "variable":
			b.variables = append(b.variables, words[1:]...)
		case words[0] == "program":
			err = b.name(p, strings.Join(words[1:], " "))
		case p.Names == nil:
			err = fmt.Errorf("it belongs to no program")
		default:
			err = p.line(strings.TrimSpace(l), words)
		}
		if err != nil {
			return line, err
		}
	}
	return 0, nil
}

// name adds the names in a list to those of p.
func (b *book) name(p *Program, list string) error {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		all := b.programs
		if strings.Contains(name, " ") {
			all = b.commands
		} else if begin, ok := strings.CutSuffix(name, "*"); ok {
			b.begins = append(b.begins, begin)
		}
		if all[name] != nil || name == "" {
			return fmt.Errorf("%q is no new name", name)
		}
		all[name] = p
		if p.Names == nil {
			b.entries = append(b.entries, p)
		}
		p.Names = append(p.Names, name)
	}
	return nil
}

// line parses a line of p's entry.
func (p *Program) line(l string, words []string) error {
	switch rest := words[1:]; {
	case words[0] == "example:":
		p.Examples = append(p.Examples, strings.TrimSpace(strings.TrimPrefix(l, words[0])))
	case words[0] == "grammar":
		p.Grammar = strings.Join(rest, " ")
	case words[0] == "as" && len(rest) == 1:
		p.as = rest[0]
	case words[0] == "runs":
		p.Usage = rest
	case words[0] == "writes":
		p.facts, p.Writes = append(p.facts, Writes), strings.Join(rest, " ")
	case len(rest) > 1 && rest[0] == "at" && slices.Contains([]Fact{Looks, Lists, Records, Reads, Dials}, Fact(words[0])):
		if p.at == nil {
			p.at = map[Fact][]string{}
		}
		fact := Fact(words[0])
		p.facts, p.at[fact] = append(p.facts, fact), append(p.at[fact], rest[1:]...)
	case words[0] == "word":
		return p.option(rest)
	case strings.ContainsRune("-+", rune(l[0])):
		return p.option(words)
	default:
		for _, w := range words {
			if !slices.Contains(facts, Fact(w)) {
				return fmt.Errorf("%q is no fact", w)
			}
			p.facts = append(p.facts, Fact(w))
		}
	}
	return nil
}

// option adds the option of a line.
func (p *Program) option(words []string) error {
	o := Option{}
	for _, w := range words {
		w = strings.TrimSuffix(w, ",")
		switch upper := strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""; {
		case o.Effect != "" || o.Value && !slices.Contains(effects, Effect(w)):
			return fmt.Errorf("%q behind the value", w)
		case upper:
			o.Value = true
		case slices.Contains(effects, Effect(w)):
			o.Effect = Effect(w)
		default:
			o.Spellings = append(o.Spellings, w)
		}
	}
	for _, s := range o.Spellings {
		switch letter := len(s) == 2 && s[0] == '-'; {
		case letter && o.Value:
			p.valued += s[1:]
		case letter:
			p.Flags += s[1:]
		}
	}
	p.Options = append(p.Options, o)
	return nil
}
