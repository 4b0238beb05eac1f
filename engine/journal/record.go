package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/parallel"
	"gemline/engine/text"
)

const (
	maxFile = 1 << 30   // the maximum size of a file
	maxLine = 256 << 20 // the maximum length of a line

	// openingID is the id of the opening message in every session file.
	openingID = "d04923d38bb0f6017037e74183378ef4"
)

// A record is the state of a session file after all its lines.
type record struct {
	meta           Metadata
	start, updated time.Time
	said           []*message     // all, without snapshots of earlier messages
	messages       []*message     // for the model
	index          map[string]int // of messages, by id

	keep    bool // messages keep their bytes
	glance  bool // for a list, skip messages in the middle of the file
	partial bool // messages were skipped
	head    int  // the number of messages before the skipped messages
}

// A message is a message that no later line replaced or dropped.
type message struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"`
	Content  []*genai.Part `json:"content"`        // for a message of the model, decoded if there are no Parts
	Typed    parts         `json:"displayContent"` // by the user, if another program sent more
	Parts    []*genai.Part `json:"parts"`
	Thoughts []struct{}    `json:"thoughts"`
	Model    string        `json:"model"`
	Calls    []called      `json:"toolCalls"`
	Cut      bool          `json:"cut"`
	Begins   bool          `json:"callsBegin"` // lines record the beginnings of its calls

	begun []string        // the ids of calls that have begun
	raw   json.RawMessage // the line in the file
}

// A called is the record of a call beside a message, or in a line of its own.
type called struct {
	Message string          `json:"message"` // the id of the message, in a line of its own
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Args    map[string]any  `json:"args"`
	Result  json.RawMessage `json:"result"`
	Display string          `json:"resultDisplay"`
}

// A fileLine is a line of a session file: a message, or a change of the session's state.
type fileLine struct {
	message
	SessionID   json.RawMessage `json:"sessionId"`
	ProjectHash json.RawMessage `json:"projectHash"`
	Format      disk.Format     `json:"formatVersion"`
	Set         json.RawMessage `json:"$set"`
	RewindTo    *string         `json:"$rewindTo"`
	Result      *called         `json:"$result"`
	Begun       *begunLine      `json:"$begun"`
}

// parts are parts in every form that programs write: a text, a single part, or a list of both.
type parts []*genai.Part

// UnmarshalJSON leaves out values that are no parts.
func (ps *parts) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	*ps = nil
	for _, v := range list {
		p := &genai.Part{}
		if json.Unmarshal(v, &p.Text) == nil || text.Unmarshal(v, p) == nil {
			*ps = append(*ps, p)
		}
	}
	*ps = dropEmpty(*ps)
	return nil
}

// dropEmpty drops parts with nothing in them, which the API refuses.
func dropEmpty(ps []*genai.Part) []*genai.Part {
	for _, p := range ps {
		if p != nil && p.FunctionResponse != nil {
			fr := p.FunctionResponse
			if fr.Response == nil {
				fr.Response = map[string]any{}
			}
			fr.Parts = slices.DeleteFunc(fr.Parts, func(m *genai.FunctionResponsePart) bool { return m == nil })
		}
	}
	return slices.DeleteFunc(ps, func(p *genai.Part) bool {
		return p == nil || p.Text == "" && len(p.ThoughtSignature) == 0 && !engine.HasData(p)
	})
}

// read reads the session file path and describes the session.
func (r *record) read(path string) (Session, error) {
	f, err := disk.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Session{}, err
	}
	if info.Size() > maxFile && !r.glance {
		return Session{}, &fs.PathError{Op: "read", Path: path, Err: disk.TooLargeError(maxFile)}
	}
	if strings.HasSuffix(path, ".json") {
		b, err := disk.ReadOpen(f, maxFile)
		if err != nil {
			return Session{}, err
		}
		r.line(b)
	} else if err := r.lines(f, info.Size()); err != nil {
		return Session{}, err
	}
	if !validID(r.meta.SessionID) {
		return Session{}, fmt.Errorf("%s holds no session", path)
	}
	s := r.summary()
	s.Path = path
	if s.Updated.IsZero() {
		s.Updated = info.ModTime()
	}
	if s.Start.IsZero() {
		s.Start = s.Updated
	}
	return s, nil
}

// buffered is a pool of buffers, since a list reads many files.
var buffered = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// A list decodes the messages in this many bytes at either end of a file.
const glanced = 4 << 10

// lines applies the lines of in, which has size bytes. It skips lines that are too long.
func (r *record) lines(in io.Reader, size int64) error {
	br := buffered.Get().(*bufio.Reader)
	br.Reset(in)
	defer func() { br.Reset(nil); buffered.Put(br) }()
	l, titled := text.NewLines(br, '\n', maxLine), false
	var batch [][]byte
	var buf []byte // of the batch
	fold := func() {
		parsed := make([]*fileLine, len(batch))
		most := runtime.GOMAXPROCS(0)
		parallel.Each(most, most, func(i int) {
			for ; i < len(batch); i += most {
				parsed[i] = parse(batch[i])
			}
		})
		for i, b := range batch {
			r.fold(parsed[i], b)
		}
		if batch, buf = batch[:0], buf[:0]; r.keep {
			buf = nil
		}
	}
	for {
		at := l.At
		b, err := l.Next()
		switch {
		case err == io.EOF:
			fold()
			return nil
		case err == text.ErrLong:
		case err != nil:
			return err
		case !r.glance:
			buf = append(buf, b...)
			if batch = append(batch, buf[len(buf)-len(b):]); len(buf) > 1<<20 {
				fold()
			}
		case titled && at > glanced && at < size-glanced && !changes(b):
			r.partial, r.head = true, len(r.messages)
		default:
			r.line(b)
			titled = firstQuestionOf(r.said) != "" // a rewind may have dropped the question
		}
	}
}

// changes reports whether a line changes metadata or drops messages.
func changes(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"$set"`)) || bytes.HasPrefix(b, []byte(`{"$rewindTo"`))
}

// line applies a line. An invalid line changes nothing.
func (r *record) line(b []byte) { r.fold(parse(b), b) }

// parse parses the line b. Invalid JSON is an empty line, and a field of the wrong type is
// ignored.
func parse(b []byte) *fileLine {
	l := &fileLine{}
	err := text.Unmarshal(b, l)
	if errors.As(err, new(*json.SyntaxError)) {
		return &fileLine{}
	}
	l.Content, l.Parts = dropEmpty(l.Content), dropEmpty(l.Parts)
	if err == nil {
		return l
	}
	var other struct {
		Content parts             `json:"content"`
		Calls   []json.RawMessage `json:"toolCalls"`
	}
	json.Unmarshal(b, &other) // which is JSON
	if !slices.ContainsFunc(l.Parts, wasModels) {
		l.Content = other.Content
	}
	at := -1
	l.Calls = slices.DeleteFunc(l.Calls, func(called) bool { // a value that is no object is no call
		at++
		return other.Calls[at][0] != '{'
	})
	return l
}

// fold applies the line l, whose bytes are b.
func (r *record) fold(l *fileLine, b []byte) {
	of := func(id string) *message {
		if i, ok := r.index[id]; ok {
			return r.messages[i]
		}
		return &message{}
	}
	switch {
	case l.RewindTo != nil:
		r.rewind(*l.RewindTo)
	case l.Set != nil:
		r.set(l.Set)
	case l.Result != nil:
		m := of(l.Result.Message)
		m.Calls = append(m.Calls, *l.Result)
	case l.Begun != nil:
		m := of(l.Begun.Message)
		m.begun = append(m.begun, l.Begun.ID)
	case l.SessionID != nil && (l.ProjectHash != nil || l.Format > FormatVersion): // a newer format may lack the hash
		r.set(b)
	default:
		r.add(l, b)
	}
}

// set merges the metadata b.
func (r *record) set(b []byte) {
	m := r.meta
	m.RemoteTasks, m.Messages = nil, nil
	json.Unmarshal(b, &m) // a field of the wrong type is ignored
	if m.RemoteTasks == nil {
		m.RemoteTasks = r.meta.RemoteTasks
	}
	m.Format = max(m.Format, r.meta.Format) // the newest format of all lines
	if t, err := time.Parse(time.RFC3339, m.StartTime); err == nil {
		r.start = t
	}
	if t, err := time.Parse(time.RFC3339, m.LastUpdated); err == nil {
		r.updated = t
	}
	list := m.Messages
	m.Messages = nil
	if r.meta = m; list != nil {
		r.replace(list)
	}
}

// replace replaces all messages by those of list. The messages that a snapshot replaces were said
// nonetheless; the calls with the snapshot, and the model's thanks for it, were not.
func (r *record) replace(list []json.RawMessage) {
	said, old := r.said, r.index
	r.said, r.messages, r.index, r.partial, r.head = nil, nil, nil, false, 0
	for _, b := range list {
		r.add(parse(b), b)
	}
	if len(said) == 0 || !slices.ContainsFunc(r.messages, (*message).isSnapshot) {
		return
	}
	r.said = said
	within := false
	for _, m := range r.messages {
		_, stays := old[m.ID]
		switch {
		case m.isSnapshot():
			within = true
		case within:
			within = m.Type != "gemini" || m.first(own) == ""
		case !stays:
			r.said = append(r.said, m)
		}
	}
}

// add appends a message, or replaces the message with its id.
func (r *record) add(l *fileLine, b []byte) {
	m := &l.message
	if m.ID == "" || m.Type == "" {
		return
	}
	if r.keep {
		m.raw = b
	}
	if i, ok := r.index[m.ID]; ok {
		*r.messages[i] = *m
		return
	}
	if r.index == nil {
		r.index = map[string]int{}
	}
	r.index[m.ID] = len(r.messages)
	r.messages, r.said = append(r.messages, m), append(r.said, m)
}

// rewind drops the message with the id and all later messages. If no message has the id, the
// message may be among the skipped messages: rewind then drops all messages after the head.
func (r *record) rewind(id string) {
	at, ok := r.index[id]
	if !ok {
		at = min(r.head, len(r.messages))
	}
	for _, m := range r.messages[at:] {
		delete(r.index, m.ID)
	}
	for i, m := range slices.Backward(r.said) {
		if at < len(r.messages) && m.ID == r.messages[at].ID {
			r.said = r.said[:i]
			break
		}
	}
	r.messages = r.messages[:at]
}

// first returns the first text of a message, converted by of, that is not empty.
func (m *message) first(of func(string) string) string {
	if len(m.Content) > 0 && m.Content[0].FunctionResponse != nil {
		return ""
	}
	for _, p := range m.Content {
		if s := of(p.Text); s != "" {
			return s
		}
	}
	return ""
}

// question returns the user's question in a message, "" if there is none.
func (m *message) question() string {
	if s := m.first(own); m.Type == "user" && m.ID != openingID && isQuestion(s) {
		return cmp.Or((&message{Content: m.Typed}).first(own), s)
	}
	return ""
}
