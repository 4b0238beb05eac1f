package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// A change is the effect of a line on a session: a single field is set, or none.
type change struct {
	message *message // that is added
	set     *metadata
	result  *result
	rewind  *string // the id of the message that is dropped first
	begun   *begunLine
}

// A result is how a call ended.
type result struct {
	of    string // the id of the message with the call
	raw   []byte
	ended []*call // if spoken is wanted
}

// A metadata is what a line says about the session, nil where it does not say.
type metadata struct {
	id, hash, kind, summary *string
	name, forkOf            *string
	start, updated          time.Time
	format                  int
	directories             *[]string
	elsewhere               map[string]Place
	messages                []*message
	replaces                bool // the messages take the place of all
}

// A reader takes a line apart, whose bytes it may get again if spoken is wanted.
type reader struct {
	want want
	line []byte
	in   io.ReaderAt // nil if the line stays as it is
	at   int64       // where in that the line is
}

// A piece is a part of a session file that may never be looked at.
type piece struct {
	b  []byte
	in io.ReaderAt // if b is nil
	at int64
	n  int
}

// piece returns v, which is a part of the line, for later.
func (k *reader) piece(v []byte) piece {
	if k.in == nil {
		return piece{b: v}
	}
	return piece{in: k.in, at: k.at + int64(cap(k.line)-cap(v)), n: len(v)}
}

// bytes returns the part, nil if it can't be read again.
func (p piece) bytes() []byte {
	if p.in == nil {
		return p.b
	}
	b := make([]byte, p.n)
	if _, err := p.in.ReadAt(b, p.at); err != nil {
		return nil
	}
	return b
}

// An object is one line, or one message in an array of them, taken apart.
type object struct {
	id, kind, content, parts, calls []byte
	sid, hash, set, rewindTo        []byte
	result, begun                   []byte
	begins                          bool
	filled                          bool // has content, thoughts or calls

	early *said // what was decoded on the way, nil if nothing was
}

// open takes b apart and returns whether it is a whole object. Unless all of a message is
// wanted, it stops where it knows enough for a list, and believes that b is whole if it
// ends like an object.
func (k *reader) open(b []byte) (o object, ok bool) {
	stopped := -1
	end := walkFields(b, skipSpace(b, 0), func(key []byte, at int) int {
		end := -1
		if k.want == spoken {
			end = k.decodeEarly(&o, key, b, at)
		}
		if end < 0 {
			end = skipValue(b, at)
		}
		if end < 0 {
			return -1
		}
		o.field(key, b[at:end])
		if k.want == glance && o.id != nil && o.kind != nil && o.content != nil &&
			(o.filled || string(o.kind) == `"user"`) {
			stopped = end
			return -1
		}
		return end
	})
	if stopped >= 0 {
		return o, bytes.HasSuffix(bytes.TrimRight(b[stopped:], " \t\r\n"), []byte("}"))
	}
	return o, isEnd(b, end)
}

// field takes in a field.
func (o *object) field(key, v []byte) {
	switch string(key) {
	case "id":
		o.id = v
	case "type":
		o.kind = v
	case "content":
		o.content = v
		o.filled = o.filled || notEmpty(v)
	case "parts":
		o.parts = v
		o.filled = o.filled || notEmpty(v)
	case "toolCalls":
		o.calls = v
		o.filled = o.filled || notEmpty(v)
	case "thoughts":
		o.filled = o.filled || notEmpty(v)
	case "sessionId":
		o.sid = v
	case "projectHash":
		o.hash = v
	case "$set":
		o.set = v
	case "$rewindTo":
		o.rewindTo = v
	case "$result":
		o.result = v
	case "$begun":
		o.begun = v
	case "callsBegin":
		o.begins = string(v) == "true"
	}
}

// notEmpty reports whether v is a string or an array with something in it.
func notEmpty(v []byte) bool {
	return (v[0] == '"' || v[0] == '[') && skipSpace(v, 1) < len(v)-1
}

// change takes the line apart.
func (k *reader) change() (c change) {
	o, ok := k.open(k.line)
	switch {
	case !ok:
	case o.rewindTo != nil:
		id := decodeString(o.rewindTo)
		c.rewind = &id
	case o.set != nil:
		c.set = k.metadata(o.set)
	case o.result != nil:
		c.result = k.result(o.result)
	case o.begun != nil:
		c.begun = k.begun(o.begun)
	case o.sid != nil && o.hash != nil:
		c.set = k.metadata(k.line)
	default:
		c.message = k.message(k.line, o)
	}
	return c
}

// metadata takes apart what b says of the session.
func (k *reader) metadata(b []byte) *metadata {
	m := &metadata{}
	text := func(v []byte) *string { s := decodeString(v); return &s }
	line := func(v []byte) *string { s := title(decodeString(v)); return &s }
	eachField(b, func(key, v []byte) {
		switch string(key) {
		case "sessionId":
			m.id = text(v)
		case "projectHash":
			m.hash = text(v)
		case "startTime":
			m.start = parseTime(v, m.start)
		case "lastUpdated":
			m.updated = parseTime(v, m.updated)
		case "kind":
			m.kind = text(v)
		case "formatVersion":
			json.Unmarshal(v, &m.format) // what is no number says nothing
		case "summary":
			m.summary = text(v)
		case "name":
			m.name = line(v)
		case "forkedFrom":
			m.forkOf = line(v)
		case "directories":
			var dirs []string
			if json.Unmarshal(v, &dirs) == nil {
				m.directories = &dirs
			}
		case "remoteAgents":
			json.Unmarshal(v, &m.elsewhere) // what is of another kind says nothing
		case "messages":
			if v[0] == '[' {
				m.messages, m.replaces = k.messages(v), true
			}
		}
	})
	return m
}

// messages returns the messages of the array b.
func (k *reader) messages(b []byte) (all []*message) {
	eachElement(b, func(v []byte) {
		if o, ok := k.open(v); ok {
			if m := k.message(v, o); m != nil {
				all = append(all, m)
			}
		}
	})
	return all
}

// message returns the message b, which o has taken apart, nil if it is none.
func (k *reader) message(b []byte, o object) *message {
	if o.id == nil || o.kind == nil {
		return nil
	}
	m := &message{id: decodeString(o.id), kind: decodeString(o.kind), begins: o.begins}
	switch m.kind {
	case "gemini":
		m.real = o.filled
	case "user":
		begins := textPrefix(o.content, strings.TrimSpace)
		if said := textPrefix(o.content, own); m.id != openingID && isQuestion(said) {
			m.real, m.text = true, said
		}
		m.words = begins
		begins = strings.TrimSpace(begins)
		m.context = m.id == openingID || strings.HasPrefix(begins, "<session_context>")
		m.command = strings.HasPrefix(begins, "/") || strings.HasPrefix(begins, "?")
	}
	switch k.want {
	case raw:
		m.kept = &kept{raw: b, body: o}
	case spoken:
		m.said = k.decode(m.kind, o)
	}
	return m
}

// result takes apart how a call ended. It is nil if nobody wants to know.
func (k *reader) result(b []byte) (res *result) {
	if k.want == glance {
		return nil
	}
	eachField(b, func(key, v []byte) {
		if string(key) == "message" {
			res = &result{of: decodeString(v), raw: b}
		}
	})
	if res != nil && k.want == spoken {
		res.raw, res.ended = nil, k.calls(b)
	}
	return res
}

// textPrefix returns how the text of a message's content begins.
func textPrefix(content []byte, of func(string) string) string {
	if len(content) > 0 && content[0] == '"' {
		return of(stringPrefix(content))
	}
	if bytes.HasPrefix(content, []byte(`[{"functionResponse"`)) {
		return "" // answers to calls, perhaps long
	}
	var text string
	eachElement(content, func(p []byte) {
		switch {
		case text != "":
		case p[0] == '"':
			text = of(stringPrefix(p))
		default:
			eachField(p, func(key, v []byte) {
				if string(key) == "text" {
					text = of(stringPrefix(v))
				}
			})
		}
	})
	return text
}

// parseTime returns the time in the JSON string b, or otherwise.
func parseTime(b []byte, otherwise time.Time) time.Time {
	t, err := time.Parse(time.RFC3339, decodeString(b))
	if err != nil {
		return otherwise
	}
	return t
}
