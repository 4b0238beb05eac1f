package output

import (
	"strings"

	"github.com/fatih/color"
)

// Style is the style of a piece of text in smart mode. The zero Style is none.
type Style int

// The styles.
const (
	Normal   Style = iota
	Strong         // labels, headings
	Caution        // warnings and questions
	Bad            // errors, removed lines
	Good           // success, added lines
	Code           // text to be typed unchanged
	Address        // the target of a link
	Emphasis       // a stressed word
	Note           // the program's own words inside an answer
	Headline       // the heading of a whole text
	last     = Headline
)

// A wrapping is the pair of sequences around text of a style.
type wrapping struct{ begin, end string }

func wrappings(on bool) (ws [last + 1]wrapping) {
	if !on {
		return ws
	}
	for s, attrs := range map[Style][]color.Attribute{
		Strong: {color.Bold}, Caution: {color.FgYellow}, Bad: {color.FgRed}, Good: {color.FgGreen},
		Code: {color.FgCyan}, Address: {color.FgBlue}, Emphasis: {color.Underline}, Note: {color.FgMagenta},
		Headline: {color.Bold, color.Underline},
	} {
		c := color.New(attrs...)
		c.EnableColor()
		ws[s].begin, ws[s].end, _ = strings.Cut(c.Sprint("|"), "|")
	}
	return ws
}

// styledText is text with a style for each byte.
type styledText struct {
	text   []byte
	styles []Style
}

func (t *styledText) add(s Style, b []byte) {
	t.text = append(t.text, b...)
	for range b {
		t.styles = append(t.styles, s)
	}
}

func (t *styledText) clear() { t.text, t.styles = t.text[:0], t.styles[:0] }
