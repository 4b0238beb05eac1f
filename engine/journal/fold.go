package journal

import (
	"cmp"
	"slices"

	"google.golang.org/genai"
)

// openingID is the id that every session file gives to the message that sets
// up the conversation's context.
const openingID = "d04923d38bb0f6017037e74183378ef4"

// A record is a session file, its lines folded in order.
type record struct {
	session  Session
	messages []*message
	index    map[string]int // of messages, by id
	want     want
	format   int    // the newest that a line names
	asked    string // how the first question began, where compression has summed it up
}

// A want is how much of a message is kept.
type want int

const (
	glance want = iota // what a list shows
	raw                // its line, which must then stay as it is
	spoken             // what was said in it
)

// A message is one that no later line replaced or dropped.
type message struct {
	id   string
	kind string
	real bool   // worth coming back for
	text string // how a question begins, where a title is looked for

	words string // how the words of a user's message begin, whoever added them

	begins bool     // lines record the beginnings of its calls
	begun  []string // the ids of these calls

	context bool // it sets up the conversation
	command bool // it looks like a command to the program

	kept *kept // if raw is wanted
	said *said // if spoken is
}

// A message as it is in the file.
type kept struct {
	raw     []byte
	body    object
	results [][]byte // results in lines of their own, not in the message
}

// What was said in a message, decoded.
type said struct {
	parts, content []*genai.Part
	calls          []*call
}

// line folds in one line. A line that can't be parsed changes nothing.
func (r *record) line(b []byte) {
	r.apply((&reader{want: r.want, line: b}).change())
}

// apply folds in what a line changes.
func (r *record) apply(c change) {
	switch {
	case c.message != nil:
		r.add(c.message)
	case c.set != nil:
		r.set(c.set)
	case c.result != nil:
		r.result(c.result)
	case c.begun != nil:
		r.begin(*c.begun)
	case c.rewind != nil:
		r.rewind(*c.rewind)
	}
}

// set merges metadata.
func (r *record) set(m *metadata) {
	s := &r.session
	r.format = max(r.format, m.format)
	for _, f := range []struct{ to, from *string }{{&s.ID, m.id}, {&s.ProjectHash, m.hash},
		{&s.Kind, m.kind}, {&s.Summary, m.summary},
		{&s.Name, m.name}, {&s.ForkOf, m.forkOf}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if !m.start.IsZero() {
		s.Start = m.start
	}
	if !m.updated.IsZero() {
		s.Updated = m.updated
	}
	if m.directories != nil {
		s.Directories = *m.directories
	}
	if m.elsewhere != nil {
		s.Elsewhere = m.elsewhere
	}
	if m.replaces {
		first := cmp.Or(r.asked, asked(r.messages))
		r.messages, r.index, r.asked = nil, nil, ""
		for _, msg := range m.messages {
			r.add(msg)
		}
		if slices.ContainsFunc(r.messages, (*message).isSnapshot) {
			r.asked = first
		}
	}
}

// result keeps how a call ended with the message that it is of.
func (r *record) result(res *result) {
	i, ok := r.index[res.of]
	if !ok {
		return
	}
	if m := r.messages[i]; m.kept != nil {
		m.kept.results = append(m.kept.results, res.raw)
	} else if m.said != nil {
		m.said.calls = append(m.said.calls, res.ended...)
	}
}

// begin notes in a message that its call has begun.
func (r *record) begin(b begunLine) {
	if i, ok := r.index[b.Message]; ok {
		m := r.messages[i]
		m.begun = append(m.begun, b.ID)
	}
}

// add appends a message, or replaces the message with its id.
func (r *record) add(m *message) {
	if r.index == nil {
		r.index = map[string]int{}
	}
	if i, ok := r.index[m.id]; ok {
		r.messages[i] = m
		return
	}
	r.index[m.id] = len(r.messages)
	r.messages = append(r.messages, m)
}

// rewind drops the message with the id and all later messages; if no message has the id, it
// drops all.
func (r *record) rewind(id string) {
	at := r.index[id] // 0 if unknown
	for _, m := range r.messages[at:] {
		delete(r.index, m.id)
	}
	r.messages = r.messages[:at]
}
