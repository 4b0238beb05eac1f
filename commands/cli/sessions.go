package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/settings/project"
)

// sessionsCommand is gemline sessions.
type sessionsCommand struct {
	List   sessionsList   `cmd:"" default:"withargs" help:"List the sessions of this directory."`
	Show   sessionsShow   `cmd:"" help:"Print what was said in a session."`
	Search sessionsSearch `cmd:"" help:"Say in which sessions something was said or done."`
	Export sessionsExport `cmd:"" help:"Write a session to a file, as Markdown, HTML or JSON."`
	Delete sessionsDelete `cmd:"" help:"Delete a session and its stored outputs."`
	Prune  sessionsPrune  `cmd:"" help:"Delete old sessions of this directory, by general.sessionRetention."`
}

// sessions returns the sessions of the working directory, and their store.
func (here *Folder) sessions() ([]journal.Session, project.Store, error) {
	store, known := here.Paths.Registered()
	if !known {
		return nil, store, nil
	}
	list, err := journal.List(store.Chats())
	return list, store, err
}

// A sessionID names a session.
type sessionID struct {
	ID string `arg:"" complete:"session" help:"latest, a number of the list, an id or a name."`
}

// A storedSession is a session with its number in the list and its store.
type storedSession struct {
	journal.Session
	number int
	store  project.Store
}

// ProvideSession returns the named session.
func (c sessionID) ProvideSession(here *Folder) (*storedSession, error) {
	list, store, err := here.sessions()
	if err != nil {
		return nil, err
	}
	s, err := journal.Find(list, c.ID)
	if len(list) == 0 {
		err = journal.ErrNoSessions
	}
	if err != nil {
		return nil, &NoSessionError{err}
	}
	number := 1 + slices.IndexFunc(list, func(o journal.Session) bool { return o.ID == s.ID })
	return &storedSession{s, number, store}, nil
}

// A NoSessionError reports a session that does not exist.
type NoSessionError struct{ error }

// Unwrap returns the error of the journal.
func (e *NoSessionError) Unwrap() error { return e.error }

type sessionsList struct {
	Live bool `help:"List the live sessions of all directories."`
}

// Run prints the sessions, oldest first, with the numbers for --resume.
func (c *sessionsList) Run(ctx context.Context, out *Output, here *Folder) error {
	if c.Live {
		return out.showLive(live(ctx, here.Paths))
	}
	list, store, err := here.sessions()
	if err != nil {
		return err
	}
	text.Each(journal.Damaged(store.Chats()), out.Notify)
	var lines []string
	for i, s := range list {
		lines = append(lines, s.Line(i+1, "", time.Now()))
	}
	return out.listing(map[string]any{"sessions": out.entries(list...)}, lines, "no session of this directory is stored")
}

// A SessionEntry is a session as --list-sessions --json prints it.
type SessionEntry struct {
	Index       int       `json:"index"`
	ID          string    `json:"id"`
	Title       string    `json:"title"`
	Name        string    `json:"name,omitempty"`
	ForkOf      string    `json:"forkedFrom,omitempty"`
	StartTime   time.Time `json:"startTime"`
	LastUpdated time.Time `json:"lastUpdated"`
	Messages    int       `json:"messageCount"`
	Newer       bool      `json:"newer,omitempty"`
	Path        string    `json:"path"`
}

// Entries returns sessions for programs. It reads long sessions whole, to count their messages.
func Entries(sessions []journal.Session) []SessionEntry {
	out := make([]SessionEntry, len(sessions))
	for i, s := range sessions {
		if s.Partial {
			if whole, err := journal.Load(s.Path); err == nil {
				s.Messages = whole.Messages
			}
		}
		out[i] = SessionEntry{Index: i + 1, ID: s.ID, Title: s.Title, Name: s.Name, ForkOf: s.ForkOf,
			StartTime: s.Start.UTC(), LastUpdated: s.Updated.UTC(),
			Messages: s.Messages, Newer: s.NewerFormat, Path: s.Path}
	}
	return out
}

// entries returns sessions for the document, which there is with --json alone.
func (out *Output) entries(sessions ...journal.Session) []SessionEntry {
	if !out.JSON {
		return make([]SessionEntry, len(sessions))
	}
	return Entries(sessions)
}

type sessionsShow struct{ sessionID }

// A message is a message in gemline sessions show --json.
type message struct {
	Role    string   `json:"role"`
	Text    string   `json:"text,omitempty"`
	Calls   []call   `json:"calls,omitempty"`
	Results []answer `json:"results,omitempty"`
	Media   []string `json:"media,omitempty"` // MIME types of media

	note bool // a note of gemline, not a message
}

type call struct {
	ID   string         `json:"id,omitempty"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

type answer struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
}

// Run prints the conversation.
func (*sessionsShow) Run(out *Output, s *storedSession) error {
	talk, err := journal.Load(s.Path)
	if err != nil {
		return err
	}
	messages := lists.Map(talk.Transcript, messageOf)
	if out.JSON {
		return out.document(map[string]any{"session": out.entries(talk.Session)[0], "messages": messages})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session %d: %s\n%s\n", s.number, text.ShortID(s.ID), s.Path)
	for _, m := range messages {
		m.write(&b)
	}
	_, err = io.WriteString(out.Out, output.Escape(b.String()))
	return err
}

// messageOf converts a message, without thoughts.
func messageOf(c *genai.Content) message {
	m := message{Role: c.Role}
	for _, p := range c.Parts {
		switch {
		case p == nil || p.Thought:
		case p.FunctionCall != nil:
			m.Calls = append(m.Calls, call{p.FunctionCall.ID, p.FunctionCall.Name, p.FunctionCall.Args})
		case p.FunctionResponse != nil:
			m.Results = append(m.Results, answer{p.FunctionResponse.ID, p.FunctionResponse.Name,
				p.FunctionResponse.Response})
		case p.InlineData != nil:
			m.Media = append(m.Media, p.InlineData.MIMEType)
		default:
			m.Text += p.Text + engine.CodeText(p)
		}
	}
	m.note = c.Role == genai.RoleUser && m.Text != "" && !engine.HasAnswers(c) && !journal.HasWords(c)
	return m
}

// write writes a message as text: words in full, calls in a line.
func (m message) write(b *strings.Builder) {
	who := map[string]string{genai.RoleUser: "you", genai.RoleModel: "gemini"}[m.Role]
	if m.note {
		who, m.Text = "note", cmp.Or(engine.NoteText(m.Text), m.Text)
	}
	if m.Text != "" {
		text := strings.ReplaceAll(strings.Trim(m.Text, "\n"), "\n", "\n  ") // indented, to differ from gemline's own lines
		fmt.Fprintf(b, "\n%s:\n  %s\n", cmp.Or(who, m.Role), text)
	}
	for _, kind := range m.Media {
		fmt.Fprintf(b, "\n%s: attachment, %s\n", cmp.Or(who, m.Role), kind)
	}
	for _, c := range m.Calls {
		args, _ := json.Marshal(c.Args) // they were parsed from JSON, so it can't fail
		fmt.Fprintf(b, "\ntool: %s %s\n", c.Name, oneLine(string(args)))
	}
	for _, r := range m.Results {
		text, _ := r.Response["output"].(string)
		if failed, ok := r.Response["error"].(string); ok {
			text = "failed: " + failed
		}
		fmt.Fprintf(b, "result: %s: %s\n", r.Name, oneLine(text))
	}
}

// oneLine returns the beginning of a text as a line.
func oneLine(s string) string { return text.OneLine(s, 200) }

type sessionsDelete struct{ sessionID }

// Run deletes a session, unless a process has it open.
func (*sessionsDelete) Run(out *Output, s *storedSession) error {
	if err := SessionStorage(s.store).Remove(s.ID); err != nil {
		return err
	}
	by := ""
	if s.NewerFormat {
		by = ", of a newer gemline"
	}
	return out.show(map[string]any{"deleted": s.ID, "title": s.Title},
		fmt.Sprintf("Deleted session %d: %s (%s%s)", s.number, s.Title, text.Ago(s.Updated, time.Now()), by))
}
