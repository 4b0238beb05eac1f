// Package text formats values, numbers, times and untrusted texts for all of gemline. It also
// reads the lines that programs exchange.
//
// # Terminals need more
//
// [Printable] and [PrintableLine] escape for a line of a text or of JSON, and [Untrusted] marks a
// text for a model. Package repl/output makes texts fit for a terminal.
package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// JSON returns v as JSON, with <, > and & as they are, and without a newline at the
// end. Without indent the result is a single line.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Object returns the JSON of an object whose members stay in their order.
func Object(members iter.Seq2[string, any]) ([]byte, error) {
	all := []byte{'{'}
	for key, value := range members {
		if len(all) > 1 {
			all = append(all, ',')
		}
		name, _ := JSON(key, "") // no error for a string
		b, err := JSON(value, "")
		if err != nil {
			return nil, err
		}
		all = append(append(append(all, name...), ':'), b...)
	}
	return append(all, '}'), nil
}

// OneLine returns the words of s on one line, in at most the given number of
// characters and three dots.
func OneLine(s string, most int) string {
	return Shorten(Words(strings.ToValidUTF8(s, "?")), most)
}

// Words returns the words of s with a single space between each two.
func Words(s string) string { return strings.Join(strings.Fields(s), " ") }

// Entries splits a list at separators outside of parentheses.
func Entries(list, separators string) []string {
	depth := 0
	return strings.FieldsFunc(list, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && strings.ContainsRune(separators, r)
	})
}

// Name returns the name of a file for a list: quoted if it has control characters or is not UTF-8.
func Name(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// Shorten returns the beginning of s: at most the given number of characters, and
// three dots if there are more.
func Shorten(s string, most int) string {
	first, more := First(s, most)
	if more {
		first += "..."
	}
	return first
}

// First returns the first n characters of s, and whether there are more.
func First(s string, n int) (first string, more bool) {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s, false
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i], true
		}
	}
	return s, false
}

// Middle returns s without its middle, which a line counts: the beginning and the end, together
// at most the given number of characters.
func Middle(s string, most int) string {
	omitted := utf8.RuneCountInString(s) - most
	if omitted <= 0 {
		return s
	}
	first, _ := First(s, most/2)
	return fmt.Sprintf("%s\n... [%s characters omitted] ...\n%s", first, Number(omitted), Last(s, most/2))
}

// Last returns the last n characters of s.
func Last(s string, n int) string {
	rest := s
	for ; n > 0 && rest != ""; n-- {
		_, size := utf8.DecodeLastRuneInString(rest)
		rest = rest[:len(rest)-size]
	}
	return s[len(rest):]
}

// Invalid returns the index of the first byte of s that is not UTF-8, or -1.
func Invalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return i
		}
	}
	return -1
}

// Whole returns b without an incomplete character at its end.
func Whole(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// Number returns n with a comma before each three digits.
func Number(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Count returns a number of things in words: "1 line", "2,048 lines".
func Count(n int, noun string) string { return Number(n) + " " + Plural(noun, n) }

// Plural returns the form of a regular noun that goes with n things: "file", "directories".
func Plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(noun, "ay") && !strings.HasSuffix(noun, "ey") {
		return stem + "ies"
	}
	return noun + "s"
}

// List returns the first few of names for a sentence, and the number of the others.
func List(names []string) string {
	const most = 20
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), Number(n-most))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// IsASCII reports whether s has only ASCII characters.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Each calls notify with each of texts, in their order.
func Each(texts []string, notify func(string)) {
	for _, said := range texts {
		notify(said)
	}
}

// Timestamp formats t for records and session files: in UTC, to the millisecond.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Money returns an amount of US dollars, small ones more exactly.
func Money(usd float64) string {
	switch {
	case usd != 0 && usd < 0.01:
		return fmt.Sprintf("$%.6f", usd)
	case usd < 1:
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Nearest returns the member of names that is most similar to a misspelled name, "" if none is
// similar.
func Nearest(name string, names []string) (nearest string) {
	least := max(2, len(name)/3) + 1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(name, n); d < least {
			nearest, least = n, d
		}
	}
	return nearest
}

// Likely returns the name that a misspelled key probably means, "" if there is none. Other
// programs may read the same file, so short keys, and keys with another first letter, count as
// theirs.
func Likely(key string, names []string) string {
	if len(key) < 5 {
		return ""
	}
	return Nearest(key, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, key[:1]) }))
}

// Misspelled returns the known name of which a name in a list is likely a misspelling, "" if
// there is none. A known name is no misspelling, and a known name in the list is no result.
// Neither are short names, nor names that begin with different letters, have different digits or
// differ in more than two letters: a go-reviewer is no ts-reviewer, and a test-1 no test-2.
func Misspelled(name string, list, known []string) string {
	name = strings.TrimSpace(name)
	if Among(known, name) {
		return ""
	}
	digits := func(s string) string { return noDigits().ReplaceAllString(s, "") }
	return Likely(name, slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return Among(list, k) || digits(k) != digits(name) || levenshtein.ComputeDistance(name, k) > 2
	}))
}

// Among reports whether a list has a name; case and surrounding blanks are ignored.
func Among(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), name) })
}

var noDigits = Pattern(`[^0-9]`)

// Pattern returns a regular expression that is compiled when it is first asked for,
// so that a start does not pay for unused expressions.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
