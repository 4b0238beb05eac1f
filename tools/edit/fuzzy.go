package edit

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
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
	if float64(len(lines))*float64(len(f.raw))*float64(len(f.raw)) > fuzzyWork {
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
		if size := sizes[i+n] - sizes[i] - 1; max(size-len(f.raw), len(f.raw)-size) > len(f.raw) {
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
type fuzz struct{ raw, dense []rune }

func newFuzz(lines []string) fuzz {
	trimmed := make([]string, len(lines))
	for i, l := range lines {
		trimmed[i] = strings.TrimRightFunc(l, isSpace)
	}
	text := strings.Join(trimmed, "\n")
	return fuzz{raw: []rune(text), dense: dense(text)}
}

func dense(text string) []rune {
	return slices.DeleteFunc([]rune(text), isSpace)
}

// score returns the distance of text, in differences of space, and whether it is within the
// limit.
func (f fuzz) score(text string) (score int, ok bool) {
	most := len(f.raw) * spaceWeight / fuzzyPart
	signs := distance(f.dense, dense(text), most/spaceWeight)
	rest := most - spaceWeight*signs
	if rest < 0 {
		return 0, false
	}
	all := distance(f.raw, []rune(text), signs+rest)
	score = spaceWeight*signs + all - signs
	return score, score <= most
}

// distance returns how many characters must be inserted, removed or replaced to turn a into
// b, or limit+1 if there are more than limit (Levenshtein, Ukkonen).
func distance(a, b []rune, limit int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(a)+1)
	for i := range row {
		row[i] = i
	}
	for j := 1; j <= len(b); j++ {
		low, high := max(1, j-limit), min(len(a), j+limit) // outside, the distance exceeds limit
		diagonal := row[low-1]
		row[low-1] = limit + 1
		if low == 1 {
			row[0] = j
		}
		best := row[low-1]
		for i := low; i <= high; i++ {
			above := row[i]
			if i == j+limit {
				above = limit + 1
			}
			d := diagonal
			if a[i-1] != b[j-1] {
				d = 1 + min(diagonal, above, row[i-1])
			}
			diagonal, row[i] = above, d
			best = min(best, d)
		}
		if best > limit {
			return limit + 1
		}
	}
	return min(row[len(a)], limit+1)
}
