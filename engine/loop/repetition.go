package loop

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gemline/engine/text"
)

// The numbers are the Gemini CLI's, except for the last two.
const (
	chunk       = 50   // characters that are compared
	mostChunks  = 10   // equal chunks before the text is a loop
	farApart    = 250  // characters between them, on average
	mostPeriods = 5    // different texts between them
	window      = 5000 // characters that are compared with the last chunk
	step        = 10   // characters between two comparisons
	mostRun     = 3    // of one character in a row that count, unless the run is longer than a divider
)

// patience is how many characters may repeat in text that the user may have asked for: rows of
// numbers, equal statements, refrains. A stuck model repeats text up to the limit of its answer.
const patience = 20_000

const longestDivider = 500 // characters of a line that does nothing but divide

var (
	fence     = text.Pattern("^\\s*(```+|~~~+)")
	structure = text.Pattern(`^\s*([|>]|#+\s|\d{1,9}[.)]\s|[-*+]\s)`) // a row of a table, a quote, a heading, an item
	divider   = text.Pattern(`^[-+_=*\s\x{2500}-\x{257f}]*\n$`)
)

// A repetition detects repeated text in streamed Markdown. Characters in code and in dividing
// lines don't count. The zero repetition is ready for use, for one answer.
type repetition struct {
	line   []rune // the beginning of a line, until its end or as many characters as a divider has
	inside bool   // the line has been longer than that
	skip   bool   // it does not count
	code   string // the fence that opened the code, "" outside of code

	text   []rune // the last characters that count, 2*window at most
	before rune   // the last character
	run    int    // how often it occurred in a row
	n      int    // characters so far
	began  int    // n when the present repetition was noticed first
	latest int    // the same for the last time; 0 is never
}

// add appends a piece of the text, and returns the loop, nil if there is none.
func (c *repetition) add(delta string) *Error {
	for _, r := range delta {
		c.line = append(c.line, r)
		ends := r == '\n'
		if !c.inside {
			if !ends && len(c.line) <= longestDivider {
				continue
			}
			c.begin(string(c.line))
		}
		line := c.line
		c.line, c.inside = c.line[:0], !ends
		if !c.skip && slices.ContainsFunc(line, c.stuck) {
			excerpt := text.OneLine(fromWord(c.text, chunk), chunk)
			return &Error{text: true, What: "the answer says again and again " + strconv.Quote(excerpt),
				detail: `Repeating content detected: "` + excerpt + `..."`}
		}
	}
	return nil
}

// begin decides by the beginning of a line whether the line counts, and whether the text before
// it still counts.
func (c *repetition) begin(line string) {
	mark := strings.TrimSpace(line)
	opens := fence().FindStringSubmatch(line)
	switch {
	case c.code != "":
		c.skip = true
		if strings.HasPrefix(mark, c.code) && strings.Trim(mark, c.code[:1]) == "" {
			c.code = ""
		}
		return
	case opens != nil:
		c.skip, c.code = true, opens[1]
	default:
		c.skip = mark != "" && divider().MatchString(line)
	}
	if c.skip || structure().MatchString(line) {
		c.forget()
	}
}

// forget resets the detection within an answer.
func (c *repetition) forget() { c.text, c.latest = c.text[:0], 0 }

// stuck appends a character, and reports whether the text repeats itself.
func (c *repetition) stuck(r rune) bool {
	if c.run++; r != c.before {
		c.before, c.run = r, 1
	}
	if c.run > mostRun && c.run <= longestDivider {
		return false
	}
	if len(c.text) == 2*window {
		c.text = append(c.text[:0], c.text[window:]...)
	}
	c.text = append(c.text, r)
	if c.n++; c.n%step != 0 {
		return false
	}
	starts := c.starts()
	if starts == nil {
		return false
	}
	if c.latest == 0 || c.n-c.latest > farApart {
		c.began = c.n
	}
	c.latest = c.n
	return talk(c.text[starts[1]:starts[0]]) || c.n-c.began > patience
}

// starts returns the starts of the last chunk and of equal chunks, the last first; nil if they
// are few, far apart, or separated by many different texts.
func (c *repetition) starts() (starts []int) {
	last := len(c.text) - chunk
	if last < 0 {
		return nil
	}
	first := c.text[last] // compared before a call is made: most chunks begin otherwise
	for p := last; p >= max(0, len(c.text)-window) && len(starts) < mostChunks; p-- {
		if len(starts) > 0 && starts[len(starts)-1]-p > 2*farApart {
			return nil
		}
		if c.text[p] == first && slices.Equal(c.text[p:p+chunk], c.text[last:]) {
			starts = append(starts, p)
		}
	}
	if len(starts) < mostChunks || last-starts[mostChunks-1] > (mostChunks-1)*farApart {
		return nil
	}
	periods := map[string]bool{}
	for i, p := range starts[1:] {
		periods[string(c.text[p:starts[i]])] = true
	}
	if len(periods) > mostPeriods {
		return nil
	}
	return starts
}

// fromWord returns the last n characters of a text, or a few more, to begin with a word.
func fromWord(text []rune, n int) string {
	at := len(text) - n
	for from := at; from > max(0, at-farApart); from-- {
		if unicode.IsSpace(text[from-1]) {
			at = from
			break
		}
	}
	return string(text[at:])
}

// talk reports whether a text is words on one line.
func talk(text []rune) bool {
	letters := 0
	for _, r := range text {
		if r == '\n' {
			return false
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return 2*letters > len(text)
}
