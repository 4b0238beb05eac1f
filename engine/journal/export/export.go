// Package export writes a session as a document: Markdown, HTML or JSON.
//
// # For people
//
// Markdown and HTML have a heading for each turn and no folded parts. An HTML document is one
// file: it refers to no other file, has no script, and its elements have their proper tags.
//
// # For programs
//
// JSON is the session in the Gemini CLI's form: one object with the metadata and all messages.
//
// # Texts are not changed
//
// No text of a session becomes markup of the document. Messages of the user and output of tools
// appear literally. An answer of the model is rendered as Markdown, but HTML, images and links to
// anything but pages and mail addresses are shown as text.
package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
)

// A Format is the format of a document.
type Format string

// The formats.
const (
	Markdown Format = "Markdown"
	HTML     Format = "HTML"
	JSON     Format = "JSON"
)

// FormatOf returns the format for the name of a file.
func FormatOf(name string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".md", ".markdown":
		return Markdown, nil
	case ".html", ".htm":
		return HTML, nil
	case ".json":
		return JSON, nil
	}
	return "", fmt.Errorf("%s: the name says the format, so it has to end with .md, .html or .json", text.PrintableLine(name))
}

// Session returns a session with its messages as a document. All its texts are passed through
// clean.
func Session(c *journal.LoadedSession, messages []json.RawMessage, f Format, clean func(string) string) ([]byte, error) {
	if f == JSON {
		return record(c.Session, messages, clean)
	}
	return History(c.Session, c.Transcript, f, clean)
}

// History returns a conversation as a document for people.
func History(s journal.Session, said []*genai.Content, f Format, clean func(string) string) ([]byte, error) {
	d := document{Session: s}
	d.Title = clean(cmp.Or(s.Title, "A conversation"))
	cleaned := make([]*genai.Content, len(said))
	for i, c := range said {
		cleaned[i] = wrap.Content(c, clean)
	}
	for _, t := range journal.Turns(cleaned) {
		d.turns = append(d.turns, newTurn(t, cleaned[t.From:t.To]))
	}
	if f == HTML {
		return d.html(), nil
	}
	return d.markdown(), nil
}

// Write writes a document to a file of the user's, wholly or not at all. Missing directories
// are created.
func Write(ctx context.Context, path string, document []byte) error {
	return disk.Change(ctx, path, 0o600, func() ([]byte, error) { return document, nil })
}

// record returns a session as one object.
func record(s journal.Session, messages []json.RawMessage, clean func(string) string) ([]byte, error) {
	r := s.Metadata()
	r.RemoteTasks = nil // ids of conversations on other servers are useless to other people
	r.Summary, r.Name, r.Messages = clean(r.Summary), clean(r.Name), []json.RawMessage{}
	for _, m := range messages {
		var fields map[string]any
		if err := json.Unmarshal(m, &fields); err != nil {
			continue // not a message
		}
		if other, changed := wrap.Args(fields, clean); changed {
			b, err := text.JSON(other, "")
			if err != nil {
				return nil, err
			}
			m = b
		}
		r.Messages = append(r.Messages, m)
	}
	b, err := text.JSON(r, "  ")
	return append(b, '\n'), err
}

// A document is a session for people.
type document struct {
	journal.Session
	turns []turn
}

// A turn is a question with the messages that follow.
type turn struct {
	title string
	items []item
}

// An item is a text of the conversation, or a call with its result.
type item struct {
	who  string // You, Gemini or, for a call, the name of the tool
	said string

	call   bool
	args   string // as JSON
	result string
	state  string // ok, failed, or no result
	id     string
}

// newTurn returns the turn with its messages.
func newTurn(of journal.Turn, messages []*genai.Content) turn {
	t := turn{title: heading(of.Question)}
	for _, c := range messages {
		for _, p := range c.Parts {
			t.add(c.Role, p)
		}
	}
	return t
}

// heading returns the beginning of a question.
func heading(question string) string { return text.OneLine(question, 80) }

// add adds a part of a message.
func (t *turn) add(role string, p *genai.Part) {
	who := "You"
	if role == genai.RoleModel {
		who = "Gemini"
	}
	switch {
	case p == nil || p.Thought:
	case p.FunctionCall != nil:
		args, _ := text.JSON(p.FunctionCall.Args, "  ") // no error, since they were JSON
		t.items = append(t.items, item{who: p.FunctionCall.Name, call: true, args: strings.TrimSpace(string(args)),
			state: "no result", id: p.FunctionCall.ID})
	case p.FunctionResponse != nil:
		t.answer(p.FunctionResponse)
	case p.InlineData != nil:
		t.items = append(t.items, item{who: who,
			said: fmt.Sprintf("[attachment, %s, %d bytes]", p.InlineData.MIMEType, len(p.InlineData.Data))})
	case p.FileData != nil:
		t.items = append(t.items, item{who: who,
			said: fmt.Sprintf("[attachment, %s, %s]", p.FileData.MIMEType, p.FileData.FileURI)})
	case engine.CodeText(p) != "":
		t.items = append(t.items, item{who: who, said: strings.Trim(engine.CodeText(p), "\n")})
	case engine.NoteText(p.Text) != "": // a note of the program
		t.items = append(t.items, item{who: "Note", said: engine.NoteText(p.Text)})
	case strings.TrimSpace(p.Text) != "":
		t.items = append(t.items, item{who: who, said: strings.Trim(p.Text, "\n")})
	}
}

// answer adds the answer to its call.
func (t *turn) answer(fr *genai.FunctionResponse) {
	for i := range t.items {
		it := &t.items[i]
		if !it.call || it.id != fr.ID || it.who != fr.Name || it.state != "no result" {
			continue
		}
		it.state = "ok"
		if _, failed := fr.Response["error"]; failed {
			it.state = "failed"
		}
		it.result = output(fr.Response)
		return
	}
}

// output returns a tool's answer, as text if it has only a text.
func output(response map[string]any) string {
	for _, key := range []string{"output", "error"} {
		if s, ok := response[key].(string); ok && len(response) == 1 {
			return s
		}
	}
	b, _ := text.JSON(response, "  ") // no error, since it was JSON
	return strings.TrimSpace(string(b))
}

// facts returns the session's properties, in pairs.
func (d *document) facts() (facts [][2]string) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, [2]string{name, value})
		}
	}
	day := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format("2006-01-02 15:04 MST")
	}
	add("Session", d.ID)
	add("Copy of", d.ForkOf)
	add("Begun", day(d.Start))
	add("Last worked with", day(d.Updated))
	add("Turns", fmt.Sprint(len(d.turns)))
	return facts
}
