package workspace

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Literal lists words. Every line that a pattern can match contains at least one word.
type Literal struct {
	Fold bool // when case is ignored

	words    [][]byte // nil if unknown
	odd      [][]byte // non-ASCII characters that fold to a letter of the words
	lineOnly bool     // the pattern distinguishes a line from a whole file
	multi    *regexp.Regexp
}

// HasWords reports whether there are words to look for.
func (l *Literal) HasWords() bool { return l.words != nil }

// ASCII reports whether all words are ASCII, which has the same bytes in all charsets except
// UTF-16 and UTF-32.
func (l *Literal) ASCII() bool {
	return l != nil && l.words != nil && !slices.ContainsFunc(l.words, func(word []byte) bool {
		return bytes.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
	})
}

// Literals returns the words of pattern, which is a valid expression.
func Literals(pattern string) *Literal {
	l := &Literal{}
	// ^ and $ match at lines, so that the text of a whole file can be searched.
	re, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	if err != nil {
		l.lineOnly = true
		return l
	}
	if l.multi, err = regexp.Compile("(?m:" + pattern + ")"); err != nil {
		l.lineOnly = true
	}
	l.lineOnly = l.lineOnly || tellsText(re)
	words, fold := required(re.Simplify())
	for _, w := range words {
		if fold {
			l.words = append(l.words, softLower(nil, []byte(w)))
		} else {
			l.words = append(l.words, []byte(w))
		}
	}
	l.Fold = fold && l.words != nil
	for _, letter := range []struct{ ascii, odd string }{{"k", "\u212a"}, {"s", "\u017f"}} {
		if l.Fold && slices.ContainsFunc(l.words,
			func(w []byte) bool { return bytes.Contains(w, []byte(letter.ascii)) }) {
			l.odd = append(l.odd, []byte(letter.odd))
		}
	}
	return l
}

// tellsText reports whether re distinguishes the beginning or end of a text from that of a
// line.
func tellsText(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText || slices.ContainsFunc(re.Sub, tellsText)
}

// required returns words such that every text that re matches contains one of them, and
// whether case matters not. It returns none if unknown.
func required(re *syntax.Regexp) (words []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		s := string(re.Rune)
		if re.Flags&syntax.FoldCase == 0 {
			return []string{s}, false
		}
		// Only ASCII is folded below.
		best := ""
		for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r >= 0x80 }) {
			if len(part) > len(best) {
				best = part
			}
		}
		if best == "" {
			return nil, false
		}
		return []string{best}, true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			w, f := required(sub)
			if better(w, words) {
				words, fold = w, f
			}
		}
		return words, fold
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			w, f := required(sub)
			if w == nil {
				return nil, false
			}
			words = append(words, w...)
			fold = fold || f
		}
		if len(words) > 16 {
			return nil, false
		}
		return words, fold
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	}
	return nil, false
}

// better reports whether a is likely to have fewer occurrences than b.
func better(a, b []string) bool {
	if a == nil || b == nil {
		return a != nil
	}
	if sa, sb := shortest(a), shortest(b); sa != sb {
		return sa > sb
	}
	return len(a) < len(b)
}

func shortest(words []string) int {
	n := len(words[0])
	for _, w := range words {
		n = min(n, len(w))
	}
	return n
}

// softLower copies b to dst with the case bit of every byte set: capital letters become
// small, and some other bytes become equal, too. It is much faster than exact folding, and
// finds candidates for an exact comparison.
func softLower(dst, b []byte) []byte {
	if cap(dst) < len(b) {
		dst = make([]byte, len(b), len(b)+len(b)/4)
	}
	dst = dst[:len(b)]
	const bit = 0x2020202020202020
	word, put := binary.LittleEndian.Uint64, binary.LittleEndian.PutUint64
	from, to := b, dst
	for len(from) >= 32 && len(to) >= 32 {
		put(to, word(from)|bit)
		put(to[8:], word(from[8:])|bit)
		put(to[16:], word(from[16:])|bit)
		put(to[24:], word(from[24:])|bit)
		from, to = from[32:], to[32:]
	}
	for i, c := range from {
		to[i] = c | 0x20
	}
	return dst
}
