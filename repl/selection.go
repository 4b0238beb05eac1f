package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
)

// other is the last choice of every question.
const other = "other, in your own words"

// A selection is an answer to a question with options.
type selection struct {
	at    []int  // of the options
	own   bool   // something else is meant, too
	words string // what, if it was said at once
}

// selected reads an answer to a question with options, of which it may name
// several if multi says so: by numbers and beginnings of labels with commas
// between, or by numbers alone. One more number, which words may follow,
// stands for an answer of the user's own.
func selected(s string, options []engine.Option, multi bool) (sel selection, problem string) {
	labels := make([]string, 0, len(options)+1)
	for _, o := range options {
		labels = append(labels, o.Label)
	}
	labels = append(labels, other)
	const most = 100 // parts; nobody means more
	for n, rest, more := 0, s, true; more; n++ {
		if n == most {
			return selection{}, fmt.Sprintf("%.100q is none of the choices", s)
		}
		if words, ok := ownWords(rest, len(labels)); ok && !(multi && numerals(words)) {
			sel.own, sel.words = true, words
			break
		}
		part := rest
		if multi {
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
		case at == len(options):
			sel.own = true
		default:
			sel.at = append(sel.at, at)
		}
	}
	slices.Sort(sel.at)
	sel.at = slices.Compact(sel.at)
	return sel, ""
}

// cutPart cuts s behind its first number, if it begins with one that a blank
// ends, and else at its first comma.
func cutPart(s string) (part, rest string, more bool) {
	s = strings.TrimLeft(s, " \t,")
	if i := strings.IndexAny(s, " \t,"); i > 0 && s[i] != ',' {
		if n, _ := numeral(s[:i]); n > 0 {
			return s[:i], s[i+1:], true
		}
	}
	return strings.Cut(s, ",")
}

// numerals reports whether s is a list of numbers, of a length that somebody
// may type.
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

// ownWords returns the words that follow the number n at the beginning of s.
func ownWords(s string, n int) (words string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(s, " \t,"), strconv.Itoa(n))
	if !ok || after == "" || !strings.ContainsRune(" \t:,.)", rune(after[0])) {
		return "", false
	}
	words = strings.TrimLeft(after, " \t:,.)")
	return strings.TrimSpace(words), words != ""
}

// pick returns which of options s means: by its number, its words, or their beginning if no other
// option begins so. If none is meant, problem says why. A number with a dot or a parenthesis is a
// number, even where it is also the words of an option.
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

// numeral returns the number in s, 0 if s is none, and whether a dot or a parenthesis marks s as
// a number.
func numeral(s string) (n int, marked bool) {
	digits := strings.TrimRight(s, ".)")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || digits[0] == '+' {
		return 0, false
	}
	return n, digits != s
}
