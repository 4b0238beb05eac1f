package workspace

import (
	"bytes"
	"slices"
	"strings"

	"gemline/engine/charset"
)

// A rule is one line of an ignore file.
type rule struct {
	pattern string
	not     bool // reverses earlier rules
	dir     bool // matches directories only
	anyDir  bool // matches the base name in any directory
	literal bool // holds no wildcard
	suffix  bool // holds only a leading *, left out of pattern
}

// A ruleset holds the rules of one file; the last matching rule decides.
type ruleset struct {
	all   []rule
	named map[string][]int // rules for one base name
	exact map[string][]int // rules for one path
	other []int            // all other rules
	cut   bool             // rules at the end are dropped, as they would take too long
}

// maxWild limits the bytes of a file's patterns with wildcards, as each pattern is tried on
// each name.
const maxWild = 256 << 10

// parseRules reads an ignore file the way git does, byte for byte, but for UTF-16.
func parseRules(b []byte) ruleset {
	b = bytes.TrimPrefix(charset.ToUTF8(b), []byte("\xef\xbb\xbf"))
	s := ruleset{named: map[string][]int{}, exact: map[string][]int{}}
	for tried := 0; len(b) > 0; {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		r, ok := parseRule(string(bytes.TrimSuffix(line, []byte("\r"))))
		if !ok {
			continue
		}
		switch key := folded(r.pattern); {
		case r.literal && r.anyDir:
			s.named[key] = append(s.named[key], len(s.all))
		case r.literal:
			s.exact[key] = append(s.exact[key], len(s.all))
		default:
			if tried += len(key); tried > maxWild {
				s.cut = true
				return s // later rules may revoke the omitted ones
			}
			s.other = append(s.other, len(s.all))
		}
		s.all = append(s.all, r)
	}
	return s
}

// last returns the last rule that matches the entry at rel, nil if there is none.
func (s *ruleset) last(rel string, dir bool) *rule {
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	found := -1
	for _, about := range [][]int{s.named[folded(base)], s.exact[folded(rel)]} {
		for _, i := range slices.Backward(about) {
			if !s.all[i].dir || dir {
				found = max(found, i)
				break
			}
		}
	}
	for _, i := range slices.Backward(s.other) {
		if i < found {
			break
		}
		if s.all[i].match(rel, base, dir) {
			return &s.all[i]
		}
	}
	if found < 0 {
		return nil
	}
	return &s.all[found]
}

func parseRule(line string) (rule, bool) {
	line, _, _ = strings.Cut(line, "\x00")
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line = trimSpaces(line)
	var r rule
	line, r.not = strings.CutPrefix(line, "!")
	line, r.dir = strings.CutSuffix(line, "/")
	r.anyDir = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule{}, false
	}
	r.pattern = line
	r.literal = !strings.ContainsAny(line, `*?[\`)
	if rest, ok := strings.CutPrefix(line, "*"); ok && r.anyDir && !strings.ContainsAny(rest, `*?[\`) {
		r.pattern, r.suffix = rest, true
	}
	return r, true
}

// trimSpaces drops the unescaped spaces at the end of line.
func trimSpaces(line string) string {
	end := -1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = -1
	}
	if end >= 0 {
		return line[:end]
	}
	return line
}

// match reports whether r matches the entry at rel, a path with slashes relative to the
// ignore file, whose last element is base.
func (r *rule) match(rel, base string, dir bool) bool {
	if r.dir && !dir {
		return false
	}
	if r.anyDir {
		rel = base
	}
	rel, pattern := folded(rel), folded(r.pattern)
	switch {
	case r.literal:
		return rel == pattern
	case r.suffix:
		return strings.HasSuffix(rel, pattern)
	}
	return wildmatch(pattern, rel)
}
