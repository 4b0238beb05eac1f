package output

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A model is what a Writer has to do, line by line: a line is looked at when
// all of it is known.
type model struct {
	out     strings.Builder
	done    string // of the line, what is settled
	text    string // of the line, what outside text came since
	before  rune   // behind which it stands
	started bool   // the cursor is not at the start of the line, whatever is in done
}

func (m *model) write(s string) {
	m.text += s
	for {
		line, rest, ended := strings.Cut(m.text, "\n")
		if !ended {
			return
		}
		m.text = strings.TrimSuffix(line, "\r")
		m.settle()
		m.started = true
		m.fresh()
		m.text = rest
	}
}

// settle looks at what is there of the line: no label can begin in it.
func (m *model) settle() {
	s, last := shown(m.text, m.before, Options{})
	if !m.started && ours(s, nil) {
		s = "| " + s
	}
	m.done, m.before, m.started, m.text = m.done+s, last, m.started || s != "", ""
}

func (m *model) fresh() {
	m.settle()
	if m.started {
		m.out.WriteString(m.done + "\n")
		m.done, m.before, m.started = "", '\n', false
	}
}

func (m *model) begin(s string) {
	m.fresh()
	m.done, m.before, m.started = s, ' ', s != ""
}

// shows is what is on the screen. Only the beginning of a line that may become
// a label is held back, and of a character.
func (m *model) shows() string {
	text := strings.TrimSuffix(m.text, "\r")
	for i := max(0, len(text)-utf8.UTFMax); i < len(text) && text == m.text; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRuneInString(text[i:]) {
			text = text[:i]
		}
	}
	if r, n := utf8.DecodeLastRuneInString(text); waits(r) && !strings.HasSuffix(m.text, "\r") {
		text = text[:len(text)-n]
	}
	s, _ := shown(text, m.before, Options{})
	held := false
	for _, o := range openings(nil) {
		seen := strings.ReplaceAll(strings.ToLower(s), "\u00ad", "")
		held = held || !m.started && len(seen) < len(o) && strings.HasPrefix(o, seen)
	}
	switch {
	case held:
		return m.out.String() + m.done
	case !m.started && ours(s, nil):
		s = "| " + s
	}
	return m.out.String() + m.done + s
}

// Whatever messages, prompts and pieces of text follow each other, a Writer
// does as the model says, at once and not later, and what is coloured ends.
func TestRandomMessages(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 2000
	}
	r := rand.New(rand.NewPCG(1, 8))
	for range n {
		var b bytes.Buffer
		w, m := New(&b, Options{Color: true, Marks: true}), &model{before: '\n'}
		var did []string
		screen := func() string {
			return sgr.ReplaceAllString(strings.ReplaceAll(b.String(), PromptMark.Sequence(), ""), "")
		}
		for range 1 + r.IntN(7) {
			s, style := scrawl(r), Style(r.IntN(int(last)+1))
			at := b.Len()
			switch r.IntN(12) {
			case 0:
				did = append(did, "Line "+s)
				w.Line(Info, "%s", s)
				m.begin("info: ")
				m.write(s)
				m.fresh()
			case 1:
				s = strings.ReplaceAll(s, "\n", "")
				did = append(did, "Styled "+s)
				w.Styled(style, s)
				m.fresh()
				m.write(s)
				m.settle()
				m.started = true // an empty line is one, too
				m.fresh()
			case 2:
				did = append(did, "Mark")
				w.Mark(PromptMark)
				m.settle()
				if !bytes.Contains(b.Bytes()[at:], []byte(PromptMark.Sequence())) {
					t.Fatalf("%q: the mark is not written at once", did)
				}
			case 3:
				did = append(did, "Prompt")
				w.Prompt("> ")
				m.begin("> ")
			case 4:
				did = append(did, "Entered")
				w.Entered()
				m.settle()
				m.out.WriteString(m.done)
				m.done, m.before, m.started = "", '\n', false
			case 5:
				did = append(did, "Begin")
				w.Begin(Gemini)
				m.begin("gemini: ")
			case 6:
				if last, _ := utf8.DecodeLastRuneInString(m.text); waits(last) || !utf8.ValidString(m.text) || strings.HasSuffix(m.text, "\r") {
					break // what is held back of a character stays so
				}
				did = append(did, "Touched")
				w.Touched()
				if r.IntN(3) == 0 {
					w.Entered()
					m.settle()
					m.out.WriteString(m.done)
					m.done, m.before, m.started = "", '\n', false
					break
				}
				m.settle()
				m.started = true
				w.Text("")
			case 7:
				did = append(did, "Fresh")
				w.Fresh()
				m.fresh()
			case 8:
				did = append(did, "Text "+s)
				held := len(w.gate.line.head) > 0
				w.Text(s)
				m.write(s)
				if !held && bytes.Contains(b.Bytes()[at:], []byte("\x1b[")) {
					t.Fatalf("%q: bare text is coloured: %q", did, b.Bytes()[at:])
				}
			default:
				did = append(did, "Spans "+s)
				w.Spans(Span{Style: style, Text: s}, Span{Style: Style(r.IntN(int(last) + 1)), Text: s})
				m.write(s + s)
			}
			if got, want := screen(), m.shows(); got != want {
				t.Fatalf("%q\nshows %q\n  not %q", did, got, want)
			}
		}
		w.Fresh()
		m.fresh()
		if got, want := screen(), m.out.String(); got != want {
			t.Fatalf("%q\nshows %q\n  not %q", did, got, want)
		}
	}
}
