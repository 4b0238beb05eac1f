package line

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gemline/repl/input"
)

// A Candidate is what a piece of a line may become.
type Candidate = input.Candidate

// A Completer returns candidates for line from byte start up to byte at, the cursor's place, in the
// order of the list.
type Completer func(ctx context.Context, line string, at int) (start int, found []Candidate)

const (
	// completeWithin is the timeout of a Completer, since keys wait for it.
	completeWithin = time.Second

	// mostListed is the most candidates that a list shows on a high screen.
	mostListed = 40
)

// completion returns the effect of Tab on a line: the text that replaces
// text[start:pos], or, if that would change nothing, a list of the candidates.
func completion(text []rune, pos int, complete func(line string,
	at int) (int, []Candidate)) (start int, insert []rune, list []string) {
	line := strings.ReplaceAll(string(text), string(newlineMark), "\n")
	at := len(strings.ReplaceAll(string(text[:pos]), string(newlineMark), "\n"))
	from, found := complete(line, at)
	found = slices.DeleteFunc(slices.Clone(found), func(c Candidate) bool { return plainText(c.Text) != c.Text })
	if len(found) == 0 || from < 0 || from > at {
		return pos, nil, nil
	}
	start = utf8.RuneCountInString(line[:from])
	common := found[0].Text
	for _, c := range found[1:] {
		common = commonPrefix(common, c.Text)
	}
	if len(found) == 1 && !found[0].Open && !strings.HasPrefix(line[at:], " ") {
		common += " "
	}
	if len(found) == 1 || longer(common, line[from:at]) {
		return start, []rune(common), nil
	}
	for _, c := range found {
		show := cmp.Or(c.Show, c.Text)
		list = append(list, show)
	}
	return pos, nil, list
}

// longer reports whether common extends the typed text, perhaps in another spelling.
func longer(common, typed string) bool {
	return len(common) > len(typed) || len(common) == len(typed) && common != typed
}

// plainText removes characters that a line can't hold, such as a line break in the name of a file.
// A candidate with such characters is none, since the name without them names no file.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || isOpOrMark(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
}

// commonPrefix returns the common beginning of two texts, in whole characters.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// listed returns the lines of a list that fit on a screen with the given rows.
func listed(list []string, rows int) []string {
	room := mostListed
	if rows > 0 {
		room = min(room, max(3, rows-3))
	}
	if len(list) <= room {
		return list
	}
	more := len(list) - room + 1
	return append(append([]string{}, list[:room-1]...), fmt.Sprintf("and %d more", more))
}
