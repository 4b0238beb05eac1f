package talk

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/repl/report"
)

// Steering passes messages of the client to the model while it works.
type Steering struct {
	Hints  func() *steer.Hints // of the conversation, which a command may change
	Always bool                // a message that leaves it open is a hint
}

// errRefused is the error of a hint that did not go to the model.
var errRefused = errors.New("a hook has blocked the hint: the model is not told")

// steers has a message of the client's be a hint for the turn that runs, if it is to be one,
// and reports whether it is. A message of more than words, and a command, waits for its turn.
func (c *Server) steers(l line, m userMessage) bool {
	wanted := c.Steering.Always
	if m.Hint != nil {
		wanted = *m.Hint
	}
	text := m.text()
	if c.now == nil || !wanted || c.Steering.Hints == nil || strings.HasPrefix(text, "/") && !m.Literal {
		return false
	}
	for _, p := range m.Parts {
		if p.InlineData != nil {
			return false
		}
	}
	c.now.hints = append(c.now.hints, l)
	c.Steering.Hints().Add(steer.Hint{ID: strconv.Itoa(l.Number), Text: text})
	return true
}

// withdraw withdraws the hint with an id, unless drop reports that the model has it already.
func (t *runningTurn) withdraw(id string, drop func(hint string) bool) (l line, ok bool) {
	if t == nil || id == "" {
		return l, false
	}
	at := slices.IndexFunc(t.hints, func(l line) bool {
		return l.Message.(userMessage).ID == id && drop(strconv.Itoa(l.Number))
	})
	if at < 0 {
		return l, false
	}
	l = t.hints[at]
	t.hints = slices.Delete(t.hints, at, at+1)
	return l, true
}

// steered ends the messages that were hints for a turn. Late hints get separate turns, before other
// waiting messages.
func (c *Server) steered(t *runningTurn, o report.Outcome) {
	if len(t.hints) == 0 {
		return
	}
	late := c.Steering.Hints().Take()
	var waiting []line
	for _, l := range t.hints {
		if slices.ContainsFunc(late, func(h steer.Hint) bool { return h.ID == strconv.Itoa(l.Number) }) {
			waiting = append(waiting, l)
			continue
		}
		hint, ended := &runningTurn{userMessage: l.Message.(userMessage), number: t.number,
			tally: &tally.Tally{}, denied: denied(c.Stream), hinted: true}, o
		if c.Steering.Hints().Refused(strconv.Itoa(l.Number)) {
			hint.hinted, ended = false, c.outcome(errRefused)
		}
		c.result(hint, 0, ended)
		c.inbox.done(l)
	}
	c.inbox.waiting = append(waiting, c.inbox.waiting...)
}
