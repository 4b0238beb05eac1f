package line

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gemline/repl/output"
)

// A LineAction says how a line is handled that was typed between two reads.
type LineAction int

// The actions.
const (
	Ahead  LineAction = iota // it is the next input, unless a question comes before that
	Queued                   // it is the next input in any case
	Taken                    // the program has used it
)

// A heardLine is a typed line, with its end.
type heardLine struct {
	typed  []byte
	fate   LineAction
	said   bool // the program was asked about it
	pasted bool // it arrived together with other lines
}

// mostHeard is the most bytes that are read between two reads of a line. Later input stays in the
// terminal.
const mostHeard = 64 << 10

// A heard is text that was typed between two reads of a line.
type heard struct {
	lines []heardLine
	rest  []byte // an incomplete line
	cut   int    // how many lines the terminal has cut
	last  time.Time
	more  bool // the next line was there when the last line was read
}

// size returns the number of buffered bytes.
func (h *heard) size() (n int) {
	for _, l := range h.lines {
		n += len(l.typed)
	}
	return n + len(h.rest)
}

// add adds typed bytes, and reports whether they complete a line.
func (h *heard) add(b []byte) (whole bool) {
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\n\x00") + 1
		if i == 0 {
			h.rest = append(h.rest, b...)
			break
		}
		l := append(h.rest, b[:i]...)
		h.rest, b, whole = nil, b[i:], true
		if longestLine > 0 && len(l) > longestLine {
			h.cut++
			continue
		}
		h.lines = append(h.lines, heardLine{typed: l})
		now := time.Now()
		if n := len(h.lines); n > 1 && (h.more || now.Sub(h.last) < pasteGap) {
			h.lines[n-2].pasted, h.lines[n-1].pasted = true, true
		}
		h.last = now
	}
	return whole
}

// Listen reads typed lines until stop is called, so that the program can use them before the next
// Read. Came gets a value when there are lines for [Reader.HandleTyped], which passes them to take.
// Lines that take leaves are the next inputs; a queued line cancels an earlier end of the input.
// Stop returns the queued lines, for a caller that reads no more. If the input is no terminal, or a
// read can't be cancelled, Listen reads nothing.
func (r *Reader) Listen(take func(lines []string) []LineAction) (came <-chan struct{}, stop func() (queued []string)) {
	e := r.terminal.src.listen()
	if e == nil {
		return nil, func() []string { return nil }
	}
	restore := r.by.save()
	r.terminal.listener, r.terminal.take = e, take
	return e.came, func() (queued []string) {
		h := e.close()
		r.terminal.listener, r.terminal.take = nil, nil
		restore()
		for i, l := range h.lines {
			if text := strings.TrimSpace(typedText(l.typed)); l.fate == Queued {
				r.by.cancelEnd()
				if n := len(queued); l.pasted && i > 0 && h.lines[i-1].pasted && n > 0 {
					queued[n-1] += "\n" + text
				} else {
					queued = append(queued, text)
				}
			}
			if l.pasted && !r.terminal.Single {
				r.terminal.pasted = append(r.terminal.pasted, strings.TrimSpace(typedText(l.typed)))
			}
			r.by.typeAhead(l.typed)
		}
		r.by.typeAhead(h.rest)
		return queued
	}
}

// Keep adds an input to the history without sending it.
func (r *Reader) Keep(text string) {
	if r.terminal.History != nil {
		r.terminal.History.Add(text)
	}
}

// Enter makes a line the next input, before the end of the input, as if it had been typed.
func (r *Reader) Enter(line string) {
	ended := r.by.cancelEnd()
	if r.by.typeAhead([]byte(line + "\n")); ended {
		r.by.typeAhead([]byte{0})
	}
}

// HandleTyped asks the program how to handle each line that was read.
func (r *Reader) HandleTyped() {
	if r.terminal.listener == nil {
		return
	}
	resume := r.terminal.listener.pause()
	defer resume()
	h := &r.terminal.listener.heard
	if h.cut > 0 {
		h.cut = 0
		r.terminal.Out.Line(output.Warning, "%s", tooLong())
	}
	var texts []string
	var which []int
	for i, l := range h.lines {
		if !l.said && l.typed[len(l.typed)-1] == '\n' {
			texts, which = append(texts, typedText(l.typed[:len(l.typed)-1])), append(which, i)
		}
	}
	if len(texts) == 0 {
		return
	}
	for n, fate := range r.terminal.take(texts) {
		l := &h.lines[which[n]]
		if l.fate, l.said = fate, true; fate == Queued { // the printed text is also the sent text
			l.typed = []byte(strings.ReplaceAll(texts[n], "\t", " ") + "\n")
		}
	}
	h.lines = slices.DeleteFunc(h.lines, func(l heardLine) bool { return l.fate == Taken })
}

// Ended reports whether the end of the input was typed between two reads.
func (r *Reader) Ended() bool {
	if r.terminal.listener == nil {
		return false
	}
	defer r.terminal.listener.pause()()
	return slices.ContainsFunc(r.terminal.listener.heard.lines, func(l heardLine) bool { return l.typed[len(l.typed)-1] == 0 })
}

// askedAfter reads lines that were typed before a question, and b, the rest in the terminal. It
// drops text that is not queued, and returns the number of dropped characters.
func (r *Reader) askedAfter(b []byte) (dropped int) {
	if r.terminal.listener == nil {
		return utf8.RuneCount(b)
	}
	resume := r.terminal.listener.pause()
	h := &r.terminal.listener.heard
	h.add(b)
	resume()
	r.HandleTyped()
	defer r.terminal.listener.pause()()
	dropped = utf8.RuneCount(h.rest)
	h.rest = nil
	kept := h.lines[:0]
	for _, l := range h.lines {
		if l.fate == Queued {
			kept = append(kept, l)
		} else {
			dropped += utf8.RuneCount(l.typed)
		}
	}
	h.lines = kept
	return dropped
}

// pauseListener stops the listener, until resume is called, so that another reader has the input.
func (t *terminal) pauseListener() (resume func()) {
	if t.listener == nil {
		return func() {}
	}
	return t.listener.pause()
}
