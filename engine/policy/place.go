package policy

import "strings"

// positions are the places of the keys in a file of rules, which must be valid TOML. They are
// used only in messages: without a place of the key, a message names the table or the file.
type positions struct {
	tops   map[string]place
	tables map[string][]place
	keys   map[place]map[string]place // by the place of their table
}

// A place is a line and a column, counted from 1.
type place struct{ line, column int }

// locate finds the tables and keys of text.
func locate(text string) positions {
	p := positions{tops: map[string]place{}, tables: map[string][]place{}, keys: map[place]map[string]place{}}
	s := scanner{text: text, line: 1}
	var table place
	for s.blank(); !s.end(); s.blank() {
		at := s.here()
		if s.text[s.at] == '[' {
			list := strings.HasPrefix(s.text[s.at:], "[[")
			header := s.rest()
			name := strings.Trim(strings.TrimSpace(header), "[]\"' \t")
			first, _, _ := strings.Cut(name, ".")
			for _, name := range []string{name, first} {
				if _, ok := p.tops[name]; !ok {
					p.tops[name] = at
				}
			}
			if sub, ok := strings.CutPrefix(name, "rule."); ok && !list && table != (place{}) {
				p.keys[table][sub] = at
				continue
			}
			p.tables[name] = append(p.tables[name], at)
			table = at
			p.keys[at] = map[string]place{}
			continue
		}
		key := s.key()
		if table == (place{}) {
			p.tops[key] = at
		} else if _, ok := p.keys[table][key]; !ok {
			p.keys[table][key] = at
		}
		s.value()
	}
	return p
}

// find returns the place of a key in the i-th table called name, or the nearest known place.
func (p positions) find(name string, i int, key string) place {
	list := p.tables[name]
	if i >= len(list) {
		return p.tops[name]
	}
	if at, ok := p.keys[list[i]][key]; ok {
		return at
	}
	return list[i]
}

// refuse returns the error of a file at the place of a key.
func (p positions) refuse(path, name string, i int, key, message string) error {
	at := p.find(name, i, key)
	return &FileError{Path: path, Line: at.line, Column: at.column, Message: message}
}

// A scanner goes through a text of TOML.
type scanner struct {
	text           string
	at, line, head int // head is where the line begins
}

func (s *scanner) end() bool   { return s.at >= len(s.text) }
func (s *scanner) here() place { return place{s.line, s.at - s.head + 1} }

// skip goes n bytes ahead.
func (s *scanner) skip(n int) {
	for n = min(n, len(s.text)-s.at); n > 0; n-- {
		if s.text[s.at] == '\n' {
			s.line, s.head = s.line+1, s.at+1
		}
		s.at++
	}
}

// blank skips blanks, line ends and comments.
func (s *scanner) blank() {
	for !s.end() {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.skip(1)
		case '#':
			s.rest()
		default:
			return
		}
	}
}

// rest skips and returns the rest of the line, without a comment.
func (s *scanner) rest() string {
	line, _, _ := strings.Cut(s.text[s.at:], "\n")
	s.skip(len(line))
	line, _, _ = strings.Cut(line, "#")
	return line
}

// key skips a key and the equals sign, and returns the first name of it.
func (s *scanner) key() string {
	from := s.at
	for !s.end() && s.text[s.at] != '=' && s.text[s.at] != '\n' {
		if c := s.text[s.at]; c == '"' || c == '\'' {
			s.quoted()
			continue
		}
		s.skip(1)
	}
	name := strings.TrimSpace(s.text[from:s.at])
	s.skip(1)
	if name != "" && strings.IndexByte(`"'`, name[0]) < 0 {
		name, _, _ = strings.Cut(name, ".")
	}
	return strings.Trim(strings.TrimSpace(name), `"'`)
}

// value skips a value.
func (s *scanner) value() {
	for depth := 0; !s.end(); {
		switch c := s.text[s.at]; {
		case c == '"' || c == '\'':
			s.quoted()
			continue
		case c == '#':
			s.rest()
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '\n' && depth <= 0:
			return
		}
		s.skip(1)
	}
}

// quoted skips a string of any of the four kinds.
func (s *scanner) quoted() {
	quote := s.text[s.at : s.at+1]
	long := strings.HasPrefix(s.text[s.at:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	for s.skip(len(quote)); !s.end(); s.skip(1) {
		switch {
		case s.text[s.at] == '\\' && quote[0] == '"' && (long || !strings.HasPrefix(s.text[s.at:], "\\\n")):
			s.skip(1)
		case strings.HasPrefix(s.text[s.at:], quote):
			s.skip(len(quote))
			for long && !s.end() && s.text[s.at] == quote[0] { // of the string, before its end
				s.skip(1)
			}
			return
		case s.text[s.at] == '\n' && !long:
			return
		}
	}
}
