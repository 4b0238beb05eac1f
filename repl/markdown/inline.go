package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// maxHeld is how much of a paragraph is held back at the most.
const maxHeld = 4 << 10

// An inline reads the text of one block and shows it up to where nothing is
// open any more that could change its meaning.
type inline struct {
	page *page
	base Style
	task bool // the text may begin with the box of a task

	text   []byte
	from   int    // where the part begins that is held back, with no blank
	at     int    // how far it was read
	marks  bool   // there is markup in what was read
	spaces []byte // before the part
	closed bool   // nothing follows

	runs     []delimiter
	brackets []bracket
	code     int // length of the run of ` that opened code, or 0
}

// A delimiter is a run of * or _ or ~ that may still open something, or close
// something before the bracket in which it is.
type delimiter struct {
	char          byte
	left, whole   int // characters
	opens, closes bool
}

// A bracket is a [ that may still begin a link.
type bracket struct {
	image, dead bool
	runs        int // delimiters before it
}

func newInline(p *page, base Style) *inline { return &inline{page: p, base: base} }

// write takes in a piece of text, whose lines begin with no blanks.
func (in *inline) write(p []byte) {
	in.text = append(in.text, p...)
	in.read()
	if in.from > len(in.text)/2 {
		in.text = in.text[:copy(in.text, in.text[in.from:])]
		in.at -= in.from
		in.from = 0
	}
}

// close shows the rest.
func (in *inline) close() {
	in.closed = true
	in.read()
	in.show()
}

// read goes on through the text.
func (in *inline) read() {
	for in.at < len(in.text) {
		switch {
		case in.at == in.from && util.IsSpace(in.text[in.at]):
			in.blank(in.text[in.at])
			in.at++
			in.from++
			continue
		case in.at-in.from >= maxHeld, in.atStop():
			in.show()
			continue
		}
		// How much more there is must make no difference.
		n := in.token(in.text[in.at:min(len(in.text), in.from+maxHeld)])
		if n == 0 {
			if !in.closed && len(in.text)-in.from < maxHeld {
				return
			}
			n = 1 // it will not be known
		}
		in.at += n
	}
}

// blank takes in a blank between two parts. In a View it is shown at once, so
// that the word before it is known to be whole; at the end of a line it goes.
func (in *inline) blank(c byte) {
	if in.page.view != nil && (c == ' ' || c == '\t') && bytes.IndexByte(in.spaces, '\n') < 0 {
		in.page.put(in.base, string(c))
		return
	}
	in.spaces = append(in.spaces, c)
}

// atStop reports whether the text may be cut here: nothing is open, and there
// is a blank, or a place between two characters beyond ASCII, since not
// everyone writes blanks.
func (in *inline) atStop() bool {
	if in.code > 0 || len(in.runs) > 0 || len(in.brackets) > 0 {
		return false
	}
	c := in.text[in.at]
	return util.IsSpace(c) || c >= utf8.RuneSelf && utf8.RuneStart(c) && in.at > in.from && in.text[in.at-1] >= utf8.RuneSelf
}

// token reads what s begins with and returns its length, or 0 if more must be
// known.
func (in *inline) token(s []byte) int {
	c := s[0]
	if in.code > 0 {
		return in.inCode(s)
	}
	switch c {
	case '\\':
		in.marks = true
		switch {
		case len(s) == 1, len(s) == 2 && s[1] == '\r':
			return 0
		case util.IsPunct(s[1]), s[1] == '\n':
			return 2
		case s[1] == '\r' && s[2] == '\n':
			return 3
		}
	case '&':
		in.marks = true
	case '`':
		in.marks = true
		n := run(s, "`")
		if n == len(s) {
			return 0
		}
		in.code = n
		return n
	case '*', '_', '~':
		in.marks = true
		return in.delimiters(s)
	case '!':
		if len(s) == 1 {
			return 0
		}
		if s[1] == '[' {
			in.marks = true
			in.brackets = append(in.brackets, bracket{image: true, runs: len(in.runs)})
			return 2
		}
	case '[':
		in.marks = true
		in.brackets = append(in.brackets, bracket{runs: len(in.runs)})
	case ']':
		return in.link(s)
	case '<':
		in.marks = true
		n, more := angle(s)
		switch {
		case more:
			return 0
		case n > 0 && angled(s[:n]):
			return n
		}
	}
	return 1
}

// inCode looks for the end of code.
func (in *inline) inCode(s []byte) int {
	if s[0] != '`' {
		n := bytes.IndexByte(s, '`')
		if n < 0 {
			n = len(s)
		}
		return n
	}
	n := run(s, "`")
	if n == len(s) {
		return 0
	}
	if n == in.code {
		in.code = 0
	}
	return n
}

// delimiters reads a run of * or _ or ~.
func (in *inline) delimiters(s []byte) int {
	n := run(s, string(s[0]))
	if n == len(s) || !utf8.FullRune(s[n:]) {
		return 0
	}
	before := in.before()
	if s[0] == '~' && (n != 2 || before == '~') {
		return n
	}
	after := util.ToRune(s, n)
	opens, closes := flanks(s[0], before, after)
	in.add(delimiter{s[0], n, n, opens, closes})
	return n
}

// add takes off what d closes, and keeps d if that may not have been all.
func (in *inline) add(d delimiter) {
	if d.closes {
		in.match(&d)
	}
	if d.left > 0 && (d.opens || len(in.brackets) > 0) {
		in.runs = append(in.runs, d)
	}
}

// before returns the character before the place that was reached.
func (in *inline) before() rune {
	for i := in.at - 1; i >= in.from; i-- {
		if utf8.RuneStart(in.text[i]) {
			r, _ := utf8.DecodeRune(in.text[i:])
			return r
		}
	}
	return '\n'
}

// flanks reports whether a run of c between two characters may open and close
// something, by CommonMark's rules.
func flanks(c byte, before, after rune) (opens, closes bool) {
	left := !util.IsSpaceRune(after) && (!util.IsPunctRune(after) || util.IsSpaceRune(before) || util.IsPunctRune(before))
	right := !util.IsSpaceRune(before) && (!util.IsPunctRune(before) || util.IsSpaceRune(after) || util.IsPunctRune(after))
	if c == '_' {
		return left && (!right || util.IsPunctRune(before)), right && (!left || util.IsPunctRune(after))
	}
	return left, right
}

// match takes off what the closing run d closes.
func (in *inline) match(d *delimiter) {
	floor := 0
	if n := len(in.brackets); n > 0 {
		floor = in.brackets[n-1].runs
	}
	for i := len(in.runs) - 1; i >= floor && d.left > 0; {
		o := &in.runs[i]
		if o.char != d.char || !o.opens || (o.closes || d.opens) && (o.whole+d.whole)%3 == 0 && d.whole%3 != 0 {
			i--
			continue
		}
		n := 1
		if o.left >= 2 && d.left >= 2 {
			n = 2
		}
		o.left -= n
		d.left -= n
		in.runs = in.runs[:i+1]
		if o.left == 0 {
			in.runs = in.runs[:i]
			i--
		}
	}
}

// link reads a ] and what makes it the end of a link's text.
func (in *inline) link(s []byte) int {
	n := len(in.brackets)
	if n == 0 {
		return 1
	}
	if len(s) == 1 {
		return 0
	}
	b := in.brackets[n-1]
	length := 1
	if s[1] == '(' && !b.dead {
		end, more := target(s[1:])
		if more {
			return 0
		}
		length += end
	}
	in.brackets = in.brackets[:n-1]
	if length == 1 { // what is in the bracket may belong to what is before it
		inside := in.runs[b.runs:]
		in.runs = in.runs[:b.runs]
		for _, d := range inside {
			in.add(d)
		}
		return 1
	}
	in.runs = in.runs[:b.runs]
	for i := range in.brackets {
		in.brackets[i].dead = in.brackets[i].dead || !b.image && !in.brackets[i].image
	}
	return length
}

// show shows what was read. Nothing is open in it, or it is too long to wait
// for the end.
func (in *inline) show() {
	if text := in.text[in.from:in.at]; len(text) > 0 {
		if bytes.IndexByte(in.spaces, '\n') >= 0 {
			in.page.write(in.base, "\n")
		} else {
			in.page.put(in.base, string(in.spaces))
		}
		body := text[:len(text)-util.TrimRightSpaceLength(text)]
		in.print(body, in.at < len(in.text))
		in.spaces = in.spaces[:0]
		for _, c := range text[len(body):] {
			in.blank(c)
		}
	}
	in.from, in.marks = in.at, false
	in.runs, in.brackets, in.code = in.runs[:0], in.brackets[:0], 0
}

// print shows text that stands for itself.
func (in *inline) print(text []byte, follows bool) {
	task := in.task && follows
	in.task = false
	switch s := string(text); {
	case task && in.page.view != nil && (s == "[ ]" || s == "[x]" || s == "[X]"):
		in.page.glue(s)
	case task && s == "[ ]":
		in.page.put(Spoken, "to do:")
	case task && (s == "[x]" || s == "[X]"):
		in.page.put(Spoken, "finished:")
	case in.marks:
		in.page.inline(text, in.base)
	default:
		in.page.write(in.base, s)
	}
}
