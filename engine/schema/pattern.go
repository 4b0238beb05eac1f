package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// A pattern is one of the schema's.
type pattern struct {
	*regexp.Regexp
	size int // about how many steps its program has
}

var errPatterns = errors.New("takes too much, with all the other patterns")

// compile notes a pattern. What its program would take is found out before.
func (s *Schema) compile(text string) error {
	if _, known := s.patterns[text]; known || text == "" {
		return nil
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return err
	}
	size := steps(tree)
	if s.size += size; s.size > maxPattern {
		return errPatterns
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return err
	}
	s.patterns[text] = pattern{re, size}
	return nil
}

// steps returns about how many steps the program of a pattern has.
func steps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}
