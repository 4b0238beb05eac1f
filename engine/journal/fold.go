package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"
)

// openingID is the id that every session file gives to the message that sets
// up the conversation's context.
const openingID = "d04923d38bb0f6017037e74183378ef4"

// maxLine is the length of a line that is no longer believed to be one.
const maxLine = 256 << 20

// A record is a session file, its lines folded in order.
type record struct {
	session  Session
	messages []message
	index    map[string]int // of messages, by id
	keep     bool           // the messages' text, which must then stay as it is
}

// A message is one that no later line replaced or dropped.
type message struct {
	id   string
	kind string
	raw  []byte // if kept, as are its pieces:
	body object
	real bool // worth coming back for

	results [][]byte // if kept: how calls ended that are not told of beside it
	text    string   // how a question begins, where a title is looked for
}

// An object is one line, or one message in an array of them, taken apart.
type object struct {
	id, kind, content, parts, calls []byte
	sid, hash, set, rewindTo        []byte
	result                          []byte
	filled                          bool // has content, thoughts or calls
}

// open takes b apart and reports whether it is a whole object. Unless all of a
// message is wanted, it stops where it knows enough for a list.
func (o *object) open(b []byte, all bool) bool {
	return scanFields(b, func(key string, v []byte) bool {
		switch key {
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
		}
		return all || o.id == nil || o.kind == nil || o.content == nil || !o.filled && string(o.kind) != `"user"`
	})
}

// notEmpty reports whether v is a string or an array with something in it.
func notEmpty(v []byte) bool {
	return (v[0] == '"' || v[0] == '[') && skipSpace(v, 1) < len(v)-1
}

// line folds in one line. One that is not understood changes nothing.
func (r *record) line(b []byte) {
	var o object
	switch {
	case !o.open(b, r.keep):
	case o.rewindTo != nil:
		r.rewind(decodeString(o.rewindTo))
	case o.set != nil:
		r.set(o.set)
	case o.result != nil:
		r.result(o.result)
	case o.sid != nil && o.hash != nil:
		r.set(b)
	default:
		r.add(b, o)
	}
}

// set merges metadata.
func (r *record) set(b []byte) {
	s := &r.session
	eachField(b, func(key string, v []byte) {
		switch key {
		case "sessionId":
			s.ID = decodeString(v)
		case "projectHash":
			s.ProjectHash = decodeString(v)
		case "startTime":
			s.Start = parseTime(v, s.Start)
		case "lastUpdated":
			s.Updated = parseTime(v, s.Updated)
		case "kind":
			s.Kind = decodeString(v)
		case "summary":
			s.Summary = decodeString(v)
		case "directories":
			var dirs []string
			if json.Unmarshal(v, &dirs) == nil {
				s.Directories = dirs
			}
		case "messages":
			r.replace(v)
		}
	})
}

// result keeps how a call ended with the message that it is of.
func (r *record) result(b []byte) {
	if !r.keep {
		return
	}
	eachField(b, func(key string, v []byte) {
		if i, ok := r.index[decodeString(v)]; key == "message" && ok {
			r.messages[i].results = append(r.messages[i].results, b)
		}
	})
}

// replace puts the messages of the array b in the place of all others.
func (r *record) replace(b []byte) {
	if b[0] != '[' {
		return
	}
	r.messages, r.index = nil, nil
	eachElement(b, func(m []byte) {
		if o := (object{}); o.open(m, r.keep) {
			r.add(m, o)
		}
	})
}

// add appends the message b, or puts it in the place of the one of its id.
func (r *record) add(b []byte, o object) {
	if o.id == nil || o.kind == nil {
		return
	}
	m := message{id: decodeString(o.id), kind: decodeString(o.kind)}
	if r.keep {
		m.raw, m.body = b, o
	}
	switch m.kind {
	case "gemini":
		m.real = o.filled
	case "user":
		if text := textPrefix(o.content); m.id != openingID && isQuestion(text) {
			m.real, m.text = true, text
		}
	}
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

// rewind drops the message id and those after it, and all if there is none of
// that id.
func (r *record) rewind(id string) {
	at := r.index[id] // 0 if unknown
	for _, m := range r.messages[at:] {
		delete(r.index, m.id)
	}
	r.messages = r.messages[:at]
}

// textPrefix returns how the text of a message's content begins.
func textPrefix(content []byte) string {
	if len(content) > 0 && content[0] == '"' {
		return stringPrefix(content)
	}
	if bytes.HasPrefix(content, []byte(`[{"functionResponse"`)) {
		return "" // answers to calls, perhaps long
	}
	var text string
	eachElement(content, func(p []byte) {
		switch {
		case text != "":
		case p[0] == '"':
			text = stringPrefix(p)
		default:
			eachField(p, func(key string, v []byte) {
				if key == "text" {
					text = stringPrefix(v)
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

// lines calls f with each line of r, which is valid until f returns. Lines that
// are too long to be true are passed over.
func lines(r io.Reader, f func([]byte)) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	skipping := false
	for {
		piece, err := br.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			if skipping = skipping || len(long)+len(piece) > maxLine; skipping {
				long = long[:0]
			} else {
				long = append(long, piece...)
			}
			continue
		case skipping:
		case len(long) > 0:
			f(append(long, piece...))
		default:
			f(piece)
		}
		long, skipping = long[:0], false
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
