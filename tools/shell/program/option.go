package program

import (
	"iter"
	"slices"
	"strings"
)

// An Option is a line of an entry: an option, or several that do the same.
type Option struct {
	Spellings []string
	Value     bool // it takes a value
	Effect    Effect
}

// An Effect is the effect of an option. The empty Effect is harmless.
type Effect string

// The effects.
const (
	Runs     Effect = "runs"     // its value is a program, or makes it run a program
	Merges   Effect = "merges"   // like Runs, unless the value is one of git's merge strategies
	Alters   Effect = "alters"   // it makes the program write other files
	Written  Effect = "writes"   // its value is a file that is written to
	Goes     Effect = "goes"     // the program runs its command in another directory
	Replaces Effect = "replaces" // its value is a placeholder for input in the command
	Into     Effect = "into"     // its value is the directory that is written into
	Exact    Effect = "exact"    // the last operand is no directory to write into
	Each     Effect = "each"     // each operand is written to
	Whole    Effect = "whole"    // the whole path of an operand is created below the directory
)

var effects = []Effect{Runs, Merges, Alters, Written, Goes, Replaces, Into, Exact, Each, Whole}

// matters reports whether [Program.Matching] looks for an effect.
func (e Effect) matters() bool {
	return e == Runs || e == Merges || e == Alters || e == Written
}

// A ParsedOption is an option of a command line, with its spelling and value.
type ParsedOption struct {
	Effect   Effect
	Spelling string
	Value    string
	Inside   bool // the value is in the same word
}

// Take reads args[0], which begins with a dash: a long option, or letters, of which the
// last may have a value. values is how many of the next words are the value. It reports
// false for an option that is not in the entry, is shortened or runs a program, and for a
// missing value.
func (p *Program) Take(args []string) (found []ParsedOption, values int, ok bool) {
	word := args[0]
	if len(word) > 1 && strings.Trim(word[1:], "0123456789") == "" && p.Has("-NUMBER") {
		return nil, 0, true
	}
	for rest := word[1:]; ; {
		g := ParsedOption{}
		if strings.HasPrefix(word, "--") || word == "-" {
			g.Spelling, g.Value, g.Inside = strings.Cut(word, "=")
			rest = ""
		} else {
			g.Spelling, rest = "-"+rest[:1], rest[1:]
		}
		o := p.spelled(g.Spelling)
		g.Effect = o.Effect
		switch {
		case o.Spellings == nil, o.Effect == Runs, o.Value && rest == "" && !g.Inside && len(args) == 1:
			return nil, 0, false
		case o.Value && rest != "":
			g.Value, g.Inside, rest = rest, true, ""
		case o.Value && !g.Inside:
			g.Value, values = args[1], 1
		}
		if found = append(found, g); rest == "" {
			return found, values, true
		}
	}
}

// Takes reports whether p has an option with the spelling s that takes a value.
func (p *Program) Takes(s string) bool { return p.spelled(s).Value }

// Has reports whether p has an option with the spelling s.
func (p *Program) Has(s string) bool { return p.spelled(s).Spellings != nil }

// spelled returns the option with the spelling s, an empty Option if there is none.
func (p *Program) spelled(s string) Option {
	i := slices.IndexFunc(p.Options, func(o Option) bool { return slices.Contains(o.Spellings, s) })
	if i < 0 {
		return Option{}
	}
	return p.Options[i]
}

// Matching yields the options with an Effect that word may be. A long option may be shortened, a
// letter may follow letters without values, and any other spelling is matched as a prefix.
func (p *Program) Matching(word string) iter.Seq[ParsedOption] {
	return func(yield func(ParsedOption) bool) {
		for _, o := range p.Options {
			if !o.Effect.matters() {
				continue
			}
			for _, s := range o.Spellings {
				if value, inside, ok := p.may(word, s); ok && !yield(ParsedOption{o.Effect, s, value, inside}) {
					return
				}
			}
		}
	}
}

// may reports whether word may be the option spelling, and returns a value inside of the
// word.
func (p *Program) may(word, spelling string) (value string, inside, ok bool) {
	if len(spelling) == 2 {
		letters, short := strings.CutPrefix(word, "-")
		i := strings.IndexByte(letters, spelling[1])
		if !short || i < 0 || letters[0] == '-' || strings.ContainsAny(letters[:i], p.valued) {
			return "", false, false
		}
		return letters[i+1:], letters[i+1:] != "", true
	}
	key, value, inside := strings.Cut(word, "=")
	if strings.HasPrefix(spelling, "--") {
		return value, inside, len(key) > 2 && strings.HasPrefix(spelling, key)
	}
	return value, inside, strings.HasPrefix(word, spelling)
}
