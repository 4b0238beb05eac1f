package repl

import (
	"strings"

	"gemline/engine"
	"gemline/repl/markdown"
	"gemline/repl/output"
)

// A Pace says how much of an answer is collected before it is printed.
type Pace int

// The paces.
const (
	BySentence Pace = iota
	ByToken         // as it comes
	ByParagraph
	AtEnd
)

// Answers prints the model's answers in parts, as Pace says.
type Answers struct {
	Pace Pace

	// View formats an answer for the eye. If it is nil, words replace markup, and no line is
	// broken.
	View *markdown.View

	now answer
}

// An answer is the answer that is being printed.
type answer struct {
	reader  *markdown.Renderer // nil between answers
	pending []markdown.Span    // not printed yet
	end     string             // the last printed bytes
	said    bool               // its label is printed
	broken  bool               // a line of another kind interrupts it
}

// text adds a piece of the answer and prints the complete part.
func (p *Printer) text(delta string) {
	p.tellReads()
	p.shown += p.Answers.show(p.Out, p.Answers.now.add(delta, p.Answers.View, p.Answers.Pace))
}

// interrupt prepares for a line of another kind inside the running answer.
func (as *Answers) interrupt() { as.now.said, as.now.broken = false, as.now.reader != nil }

// show prints spans of an answer, below the label of the model, and returns how many.
func (as *Answers) show(out *output.Writer, spans []markdown.Span) int {
	if len(spans) == 0 {
		return 0
	}
	if a := &as.now; !a.said {
		out.Begin(output.Gemini)
		if a.broken && spans[0].Style == markdown.Code || spans[0].Flow == output.Exact {
			out.Fresh() // code and tables share no line with a label
		}
		a.said, a.broken = true, false
	}
	all := make([]output.Span, len(spans))
	for i, s := range spans {
		all[i] = output.Span{Style: outputStyles[s.Style], Text: s.Text, Flow: s.Flow, Hang: s.Hang}
	}
	if as.View == nil {
		out.Spans(all...)
	} else {
		out.Prose(as.View.Columns(), all...)
	}
	return len(spans)
}

// add adds a piece and returns the spans to print now.
func (a *answer) add(delta string, view *markdown.View, pace Pace) (ripe []markdown.Span) {
	if a.reader == nil {
		a.reader = markdown.New(view)
	}
	spans := a.reader.Write(delta)
	n := a.ripe(spans, pace)
	now, later := cut(spans, n)
	if n > 0 {
		ripe, a.pending = append(a.pending, now...), nil
	}
	a.pending = append(a.pending, later...)
	return ripe
}

// rest returns the spans that are not printed yet.
func (a *answer) rest() []markdown.Span {
	if a.reader == nil {
		return nil
	}
	return append(a.pending, a.reader.Close()...)
}

// outputStyles are the styles in which pieces of an answer are printed; other pieces are normal.
var outputStyles = map[markdown.Style]output.Style{
	markdown.Title: output.Strong, markdown.Strong: output.Strong, markdown.Headline: output.Headline,
	markdown.Emphasis: output.Emphasis, markdown.Address: output.Address,
	markdown.Spoken: output.Note, markdown.Keyword: output.Note,
	markdown.Code: output.Code, markdown.Comment: output.Code, markdown.Hunk: output.Code,
	markdown.String: output.Good, markdown.Added: output.Good, markdown.Removed: output.Bad, markdown.Number: output.Caution,
}

// ripe returns how many bytes of spans, which follow the pending spans, may be printed.
func (a *answer) ripe(spans []markdown.Span, pace Pace) int {
	var b strings.Builder
	b.WriteString(a.end)
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	s := b.String()
	n := max(0, ripe(s, pace)-len(a.end))
	if pace == BySentence && s != a.end && strings.IndexByte(".!?:", s[len(s)-1]) >= 0 {
		n = len(s) - len(a.end) // a screen reader speaks a word when a blank follows it
	}
	if strings.Trim(s[len(a.end):][:n], " ") == "" {
		n = 0 // it goes with the next text
	}
	const longest = 3 // bytes of the end of a sentence
	a.end = s[max(0, len(s)-longest+1):]
	return n
}

// cut cuts spans after n bytes.
func cut(spans []markdown.Span, n int) (before, after []markdown.Span) {
	for i, s := range spans {
		if len(s.Text) <= n {
			n -= len(s.Text)
			continue
		}
		before = append(before, spans[:i]...)
		if n > 0 {
			first := s
			first.Text = s.Text[:n]
			before = append(before, first)
		}
		s.Text = s.Text[n:]
		after = append(after, s)
		return before, append(after, spans[i+1:]...)
	}
	return spans, nil
}

// ripe returns how many bytes of s a pace lets print.
func ripe(s string, pace Pace) int {
	switch pace {
	case ByToken:
		return len(s)
	case ByParagraph:
		if i := strings.LastIndex(s, "\n\n"); i >= 0 {
			return i + 2
		}
		return 0
	case AtEnd:
		return 0
	}
	n := strings.LastIndexByte(s, '\n') + 1
	for _, end := range []string{". ", "! ", "? ", ": ", "\u3002", "\uff01", "\uff1f"} {
		if i := strings.LastIndex(s, end); i >= 0 {
			n = max(n, i+len(end))
		}
	}
	return n
}

// endAnswer prints the rest of an answer. Later text begins another answer.
func (p *Printer) endAnswer() {
	p.shown += p.Answers.show(p.Out, p.Answers.now.rest())
	p.Answers.now = answer{}
}

// cited prints the sources below an answer.
func (p *Printer) cited(all []engine.Reference) {
	p.settle()
	p.say(output.Info, "Sources:")
	for _, r := range all {
		p.Out.Styled(output.Address, indent+output.EscapeLine(r.String()))
	}
}

// Answer prints a whole answer, like an answer of the model.
func (p *Printer) Answer(text string) {
	p.text(text)
	p.settle()
}
