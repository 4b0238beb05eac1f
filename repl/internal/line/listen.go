package line

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gemline/repl/output"
)

// A LineAction is what becomes of a line that was typed while no line was waited for.
type LineAction int

// The fates.
const (
	Ahead  LineAction = iota // it is the next input, unless a question comes before that
	Queued                   // it is the next input in any case
	Taken                    // whoever was asked has it
)

// A heardLine is a line as it was typed, with its end.
type heardLine struct {
	typed  []byte
	fate   LineAction
	said   bool // somebody was asked about it
	pasted bool // it came together with others
}

// mostHeard is how many bytes are read of what is typed while no line is waited for. What
// comes then stays with the terminal.
const mostHeard = 64 << 10

// A heard is text typed while no line was waited for.
type heard struct {
	lines []heardLine
	rest  []byte // of a line that is not whole
	cut   int    // lines that the terminal has cut
	last  time.Time
	more  bool // when the last line was read, the next line was there already
}

// size returns how many bytes are held.
func (h *heard) size() (n int) {
	for _, l := range h.lines {
		n += len(l.typed)
	}
	return n + len(h.rest)
}

// add takes in typed bytes, and reports whether they make a line.
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

// Listen reads the lines that are typed from now on, until stop is called, so that they can
// be told before the next Read: came gets a value when there are some for [Reader.HandleTyped],
// which asks take about them. Lines that are not taken are the next inputs; a queued line
// cancels an end of the input that was typed before it. stop returns the queued lines, for a
// caller that reads no more. Where the input is no terminal, or waiting
// can't be given up, nothing is heard.
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

// Keep puts an input that nobody sends into the history.
func (r *Reader) Keep(text string) {
	if r.terminal.History != nil {
		r.terminal.History.Add(text)
	}
}

// Enter has a line come next, as if it had been typed, and before the end of the input.
func (r *Reader) Enter(line string) {
	ended := r.by.cancelEnd()
	if r.by.typeAhead([]byte(line + "\n")); ended {
		r.by.typeAhead([]byte{0})
	}
}

// HandleTyped asks the program what to do with each line that was heard.
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
		if l.fate, l.said = fate, true; fate == Queued { // the printed text is the text that is sent
			l.typed = []byte(strings.ReplaceAll(texts[n], "\t", " ") + "\n")
		}
	}
	h.lines = slices.DeleteFunc(h.lines, func(l heardLine) bool { return l.fate == Taken })
}

// Ended reports whether the end of the input was typed while no line was waited for.
func (r *Reader) Ended() bool {
	if r.terminal.listener == nil {
		return false
	}
	defer r.terminal.listener.pause()()
	return slices.ContainsFunc(r.terminal.listener.heard.lines, func(l heardLine) bool { return l.typed[len(l.typed)-1] == 0 })
}

// askedAfter reads the lines that were typed before a question, with b, the rest in the terminal,
// and drops text that is not queued. It returns the number of dropped characters.
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

// deaf leaves the input to another reader, until resume is called.
func (t *terminal) deaf() (resume func()) {
	if t.listener == nil {
		return func() {}
	}
	return t.listener.pause()
}
