package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// Rewrite implements [engine.Journal]. If the conversation only lost its end, it records a rewind.
// If only answers to calls differ, it records these answers. Otherwise it records a list of all
// messages, in which unchanged messages keep their other fields. A rewind or a list is one line, so
// that a killed process leaves the old or the new conversation; of several answers it may leave
// only the first answers.
//
// The old conversation is read from the file, unless only answers differ whose calls the File
// knows.
func (f *File) Rewrite(said []*genai.Content) error {
	at := f.now()
	if lines, ok := f.known.amend(said, at); ok {
		if lines == nil {
			return nil
		}
		return f.append(lines, at)
	}
	f.known = nil // until the new conversation is recorded
	r, err := f.record()
	if err != nil {
		return err
	}
	var line any
	if id := r.cut(said); id != "" {
		line = map[string]string{"$rewindTo": id}
	} else {
		list, err := r.list(said, at)
		if err != nil {
			return err
		}
		line = map[string]any{"$set": map[string]any{"messages": list}}
	}
	b, err := encode(line)
	if err != nil {
		return err
	}
	if len(b) > maxLine {
		return fmt.Errorf("the conversation is larger than %d bytes", maxLine)
	}
	if r.line(b); equal(r.history(), said) {
		f.known = r.known(said)
	}
	return f.append(b, at)
}

// record returns the record of the file, with the unwritten head.
func (f *File) record() (r *record, err error) {
	r = &record{keep: true}
	if f.exists && f.disk.out == nil {
		err = f.openFile()
	}
	if f.exists && err == nil {
		err = r.lines(io.NewSectionReader(f.disk.out, 0, maxFile), 0)
	}
	return r, cmp.Or(err, r.lines(bytes.NewReader(f.pending.lines), 0))
}

// history returns the conversation of r.
func (r *record) history() []*genai.Content {
	said, _, _ := history(r.messages)
	return said
}

// cut returns the id of the message from which on the messages must be removed to leave said; ""
// if there is none.
func (r *record) cut(said []*genai.Content) string {
	i := slices.IndexFunc(rebuild(r.messages).ends, func(end int) bool { return end > len(said) })
	if i < 0 || !equal((&record{messages: r.messages[:i]}).history(), said) {
		return ""
	}
	return r.messages[i].ID
}

// list returns messages for the conversation said, and reuses messages of r.
func (r *record) list(said []*genai.Content, at time.Time) ([]json.RawMessage, error) {
	list, err := r.compose(said, at, true)
	if err != nil || equal(historyOf(list), said) {
		return list, err
	}
	return r.compose(said, at, false) // since other fields of r's messages may add to the conversation
}

// historyOf returns the conversation of a list of messages.
func historyOf(list []json.RawMessage) []*genai.Content {
	var r record
	r.replace(list)
	return r.history()
}

// compose builds the list; again says that messages of r may be reused.
func (r *record) compose(said []*genai.Content, at time.Time, again bool) ([]json.RawMessage, error) {
	old := rebuild(r.messages)
	tells := make([]string, len(r.messages)) // the conversation of each message alone
	for i, end := range old.ends {
		if again && end > 0 && (i == 0 || end > old.ends[i-1]) {
			tells[i] = canonical(old.history[end-1])
		}
	}
	next, list := 0, []json.RawMessage{}
	keep := func(to int) { // keep messages that were never sent to the model
		for ; next < to; next++ {
			if m := r.messages[next]; m.ID == openingID || m.Type != "user" && m.Type != "gemini" {
				list = append(list, m.raw)
			}
		}
	}
	keep(slices.IndexFunc(r.messages, func(m *message) bool { return m.ID == openingID }) + 1)
	for _, c := range said {
		i := next + slices.Index(tells[next:], canonical(c))
		if i >= next {
			keep(i)
			next++
		} else {
			i = slices.Index(tells, canonical(c)) // a question that compression moved
		}
		if i >= 0 {
			list, tells[i] = append(list, r.messages[i].raw), ""
			continue
		}
		b, err := json.Marshal(newMessage(engine.Entry{Content: c}, at))
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// equal reports whether two conversations have the same JSON.
func equal(a, b []*genai.Content) bool {
	return slices.EqualFunc(a, b, alike)
}

// alike reports whether two messages have the same JSON. Most are the same value in memory.
func alike(a, b *genai.Content) bool {
	return reflect.DeepEqual(a, b) || canonical(a) == canonical(b)
}

func canonical(c *genai.Content) string {
	b, _ := json.Marshal(c) // an invalid value differs from every message in the file
	return string(b)
}
