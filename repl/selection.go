package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// other is the last choice of every question that is not closed.
const other = "other, in your own words"

// A selection is an answer to a question with options.
type selection struct {
	at    []int  // indices of the options
	own   bool   // also an answer in own words
	words string // the own words, if given
}

// selected parses an answer to a question with options. If q.Multi is set, the answer may
// select several: by numbers and beginnings of labels with commas between, or by numbers alone.
// Unless q.Closed is set, the number after the last option, with optional words, stands for an
// answer in the user's own words.
func selected(s string, q engine.Question) (sel selection, problem string) {
	labels := lists.Map(q.Options, func(o engine.Option) string { return o.Label })
	if !q.Closed {
		labels = append(labels, other)
	}
	const most = 100 // parts of an answer
	for n, rest, more := 0, s, true; more; n++ {
		if n == most {
			return selection{}, fmt.Sprintf("%.100q is none of the choices", s)
		}
		if words, ok := ownWords(rest, len(labels)); ok && !q.Closed && !(q.Multi && numerals(words)) {
			sel.own, sel.words = true, words
			break
		}
		part := rest
		if q.Multi {
			part, rest, more = cutPart(rest)
		} else {
			more = false
		}
		if strings.TrimSpace(part) == "" {
			continue
		}
		at, problem := pick(part, labels)
		switch {
		case problem != "":
			return selection{}, problem
		case at == len(q.Options):
			sel.own = true
		default:
			sel.at = append(sel.at, at)
		}
	}
	slices.Sort(sel.at)
	sel.at = slices.Compact(sel.at)
	return sel, ""
}

// cutPart cuts s after a leading number that a blank ends, or else at its first comma.
func cutPart(s string) (part, rest string, more bool) {
	s = strings.TrimLeft(s, " \t,")
	if i := strings.IndexAny(s, " \t,"); i > 0 && s[i] != ',' {
		if n, _ := numeral(s[:i]); n > 0 {
			return s[:i], s[i+1:], true
		}
	}
	return strings.Cut(s, ",")
}

// numerals reports whether s is a short list of numbers.
func numerals(s string) bool {
	if len(s) > 1000 {
		return false
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t,", r) }) {
		if n, _ := numeral(part); n == 0 {
			return false
		}
	}
	return true
}

// ownWords returns the words after the number n at the beginning of s.
func ownWords(s string, n int) (words string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(s, " \t,"), strconv.Itoa(n))
	if !ok || after == "" || !strings.ContainsRune(" \t:,.)", rune(after[0])) {
		return "", false
	}
	words = strings.TrimLeft(after, " \t:,.)")
	return strings.TrimSpace(words), words != ""
}

// pick returns the option that s selects: by its number, its words, or a unique beginning of its
// words. If there is none, problem says why. A number with a dot or a parenthesis is always a
// number, even if an option has the same words.
func pick(s string, options []string) (at int, problem string) {
	s = text.Words(s)
	is := func(o string) bool { return strings.EqualFold(text.Words(o), s) }
	begins := func(o string) bool {
		return s != "" && strings.HasPrefix(strings.ToLower(text.Words(o)), strings.ToLower(s))
	}
	number, marked := numeral(s)
	inRange := number >= 1 && number <= len(options)
	whole := slices.IndexFunc(options, is)
	switch {
	case inRange && (marked || whole < 0 || whole == number-1):
		return number - 1, ""
	case inRange:
		return -1, fmt.Sprintf("%s is the number of one choice and the words of another; %s) is the number", s, s)
	case whole >= 0:
		return whole, ""
	}
	first := slices.IndexFunc(options, begins)
	switch {
	case first < 0 && number > 0:
		return -1, fmt.Sprintf("there is no choice %d", number)
	case first < 0:
		return -1, fmt.Sprintf("%.100q is none of the choices", s)
	case slices.ContainsFunc(options[first+1:], begins):
		return -1, fmt.Sprintf("several choices begin with %.100q", s)
	}
	return first, ""
}

// numeral returns the number in s, 0 if s is no number, and whether a dot or a parenthesis follows
// the number.
func numeral(s string) (n int, marked bool) {
	digits := strings.TrimRight(s, ".)")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || digits[0] == '+' {
		return 0, false
	}
	return n, digits != s
}
