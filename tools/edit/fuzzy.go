package edit

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

const (
	fuzzyLength = 10          // characters a quotation must have
	fuzzyWork   = 400_000_000 // limit of lines times the square of characters
	fuzzyPart   = 10          // one character in so many may differ
	spaceWeight = 10          // so many differences in space count as one other difference
)

// fuzzy finds whole lines that differ from the lines of old in at most a tenth of their
// characters, where space counts a tenth. Of overlapping places the best wins. It finds
// nothing if the comparison would take too long.
func fuzzy(text, old, with string) iter.Seq[span] {
	if utf8.RuneCountInString(old) < fuzzyLength {
		return none
	}
	q := quote(old, with)
	if q.blank() || strings.Count(text, "\n") > maxLines {
		return none
	}
	lines := split(text)
	f := newFuzz(q.lines)
	if float64(len(lines))*float64(f.size)*float64(f.size) > fuzzyWork {
		return none
	}
	trimmed := make([]string, len(lines))
	sizes := make([]int, len(lines)+1) // characters before each line, endings included
	for i, l := range lines {
		trimmed[i] = strings.TrimRightFunc(l, isSpace)
		sizes[i+1] = sizes[i] + utf8.RuneCountInString(trimmed[i]) + 1
	}
	n := len(q.lines)
	type candidate struct {
		line, score int
	}
	var found []candidate
	for i := 0; i+n <= len(lines); i++ {
		if size := sizes[i+n] - sizes[i] - 1; max(size-f.size, f.size-size) > f.size {
			continue
		}
		if score, ok := f.score(strings.Join(trimmed[i:i+n], "\n")); ok {
			found = append(found, candidate{i, score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.score - b.score })
	taken := make([]bool, len(lines))
	var starts []int
	for _, c := range found {
		if taken[c.line] || taken[c.line+n-1] { // all candidates have n lines
			continue
		}
		for i := range n {
			taken[c.line+i] = true
		}
		starts = append(starts, c.line)
	}
	slices.Sort(starts)
	at, unit := offsets(lines), unit(lines)
	return func(yield func(span) bool) {
		for _, i := range starts {
			if !yield(q.over(at[i], lines[i:i+n], unit)) {
				return
			}
		}
	}
}

// A fuzz is the text to which candidates are compared.
type fuzz struct {
	raw, dense string
	size       int // of raw, in characters
}

func newFuzz(lines []string) fuzz {
	right := make([]string, len(lines))
	for i, l := range lines {
		right[i] = strings.TrimRightFunc(l, isSpace)
	}
	text := strings.Join(right, "\n")
	return fuzz{text, dense(text), utf8.RuneCountInString(text)}
}

func dense(text string) string {
	return strings.Join(strings.FieldsFunc(text, isSpace), "")
}

// score returns the distance of text, in differences of space, and whether it is within the
// limit.
func (f fuzz) score(text string) (score int, ok bool) {
	most := f.size * spaceWeight / fuzzyPart
	signs := levenshtein.ComputeDistance(f.dense, dense(text))
	if spaceWeight*signs > most {
		return 0, false
	}
	score = (spaceWeight-1)*signs + levenshtein.ComputeDistance(f.raw, text)
	return score, score <= most
}
