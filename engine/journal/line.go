package journal

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// FormatVersion is the version of the format of session files. It changes only if older programs
// would misread a file, not for a new field. The Gemini CLI ignores it.
const FormatVersion disk.Format = 1

// maxDisplay is how many characters of a result are stored for the user, so that files stay small.
// The whole output of a command is in a file, which the model's result names.
const maxDisplay = 40_000

// Metadata has the properties of a session in its file.
type Metadata struct {
	SessionID   string                `json:"sessionId"`
	ProjectHash string                `json:"projectHash"`
	StartTime   string                `json:"startTime"`
	LastUpdated string                `json:"lastUpdated"`
	Kind        string                `json:"kind"`
	Directories []string              `json:"directories,omitempty"`
	Summary     string                `json:"summary,omitempty"`
	Name        string                `json:"name,omitempty"`
	ForkOf      string                `json:"forkedFrom,omitempty"`
	RemoteTasks map[string]RemoteTask `json:"remoteAgents,omitempty"`
	Format      disk.Format           `json:"formatVersion,omitempty"`
	Messages    []json.RawMessage     `json:"messages,omitzero"` // replace all messages
}

type messageLine struct {
	ID        string             `json:"id"`
	Timestamp string             `json:"timestamp"`
	Type      string             `json:"type"`
	Content   any                `json:"content"` // a string for the model's, else parts
	Thoughts  *[]thought         `json:"thoughts,omitempty"`
	Tokens    *tokens            `json:"tokens,omitempty"`
	Model     string             `json:"model,omitempty"`
	ToolCalls []toolCall         `json:"toolCalls,omitempty"`
	Citations []engine.Reference `json:"citations,omitempty"` // other programs ignore them

	// Parts is the model's original message, if it is more than text.
	Parts []*genai.Part `json:"parts,omitempty"`

	// Cut says that the message is incomplete. Other programs ignore it.
	Cut bool `json:"cut,omitempty"`

	// Begins says that lines record the beginnings of the calls. Other programs ignore it.
	Begins bool `json:"callsBegin,omitempty"`
}

type thought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Timestamp   string `json:"timestamp"`
}

type tokens struct {
	Input    int `json:"input"`
	Output   int `json:"output"`
	Cached   int `json:"cached"`
	Thoughts int `json:"thoughts"`
	Tool     int `json:"tool"`
	Total    int `json:"total"`
}

type toolCall struct {
	ID                     string         `json:"id"`
	Name                   string         `json:"name"`
	Args                   map[string]any `json:"args"`
	Result                 []*genai.Part  `json:"result"`
	Status                 string         `json:"status"`
	Timestamp              string         `json:"timestamp"`
	DisplayName            string         `json:"displayName"`
	Description            string         `json:"description"`
	ResultDisplay          string         `json:"resultDisplay"`
	RenderOutputAsMarkdown bool           `json:"renderOutputAsMarkdown"`
	TailCalls              []tailCall     `json:"tailCalls,omitempty"` // of hooks
}

// A tailCall is a call that replaced another.
type tailCall struct {
	Name          string         `json:"name"`
	Args          map[string]any `json:"args"`
	Status        string         `json:"status"`
	ResultDisplay string         `json:"resultDisplay"`
}

// A resultLine records the end of a call while other calls of its message still run. Other
// programs ignore it.
type resultLine struct {
	Message string `json:"message"` // of the model, its id
	toolCall
}

// newMessage returns e as a message of its own.
func newMessage(e engine.Entry, at time.Time) messageLine {
	l := messageLine{ID: uuid.NewString(), Timestamp: text.Timestamp(at), Type: "user"}
	if e.Content.Role == genai.RoleModel {
		l.fill(e, at)
	} else {
		l.Content = withNamedIDs(e.Content.Parts)
	}
	return l
}

// fill makes l a message of the model.
func (l *messageLine) fill(e engine.Entry, at time.Time) {
	thoughts := make([]thought, len(e.Thoughts))
	for i, t := range e.Thoughts {
		thoughts[i] = splitThought(t)
		thoughts[i].Timestamp = text.Timestamp(at)
	}
	l.Type, l.Content, l.Thoughts, l.Model, l.Cut = "gemini", engine.TextOf(e.Content.Parts), &thoughts, e.Model, e.Cut
	if u := e.Usage; u != nil {
		l.Tokens = &tokens{Input: u.Prompt, Output: u.Output, Cached: u.Cached,
			Thoughts: u.Thoughts, Tool: u.ToolUse, Total: u.Total}
	}
	l.Citations = e.Cited
	if !isText(e.Content) {
		l.Parts = withNamedIDs(e.Content.Parts)
	}
}

// splitThought splits a thought: its subject is between the first pair of double asterisks.
func splitThought(t string) thought {
	before, rest, ok := strings.Cut(t, "**")
	subject, after, closed := strings.Cut(rest, "**")
	if !ok || !closed {
		return thought{Description: strings.TrimSpace(t)}
	}
	return thought{Subject: strings.TrimSpace(subject), Description: strings.TrimSpace(before + after)}
}

// isText reports whether c is one text and nothing else.
func isText(c *genai.Content) bool {
	return len(c.Parts) == 1 && c.Parts[0] != nil && c.Parts[0].Text != "" && engine.IsText(c.Parts[0])
}

// withNamedIDs returns parts with the ids of calls and answers in the form for files: prefixed by
// the tool's name.
func withNamedIDs(parts []*genai.Part) []*genai.Part {
	out := make([]*genai.Part, 0, len(parts))
	for _, p := range parts {
		if p == nil {
			continue
		}
		if p.FunctionCall != nil {
			q, fc := *p, *p.FunctionCall
			fc.ID = engine.CallID(&fc)
			q.FunctionCall = &fc
			p = &q
		} else if p.FunctionResponse != nil {
			q, fr := *p, *p.FunctionResponse
			fr.ID = fr.Name + "__" + fr.ID
			q.FunctionResponse = &fr
			p = &q
		}
		out = append(out, p)
	}
	return out
}

// withoutArgs returns the parts of c without the arguments of calls, which the line has
// elsewhere.
func withoutArgs(c *genai.Content, calls []engine.CallRecord) []*genai.Part {
	if isText(c) {
		return nil
	}
	parts := withNamedIDs(c.Parts)
	for _, p := range parts { // the calls are copies by now
		if p.FunctionCall != nil && slices.ContainsFunc(calls,
			func(r engine.CallRecord) bool { return r.ID == p.FunctionCall.ID }) {
			p.FunctionCall.Args = nil
		}
	}
	return parts
}

func toolCalls(calls []engine.CallRecord) []toolCall {
	out := make([]toolCall, len(calls))
	for i, r := range calls {
		out[i] = toolCall{ID: r.ID, Name: r.Name, Args: r.Args, Result: withNamedIDs(r.Answer),
			Status: string(engine.Outcome(r.Err)), Timestamp: text.Timestamp(r.At),
			DisplayName: cmp.Or(r.Tool.Label, r.Name), Description: r.Intent.Title, ResultDisplay: r.Result.Display}
		if r.Err != nil {
			out[i].ResultDisplay = strings.TrimPrefix(r.Result.Display+"\n"+engine.DisplayError(r.Err), "\n")
		}
		out[i].ResultDisplay = text.Middle(out[i].ResultDisplay, maxDisplay)
		if out[i].Args == nil {
			out[i].Args = map[string]any{}
		}
		for _, t := range r.Result.Tails {
			out[i].TailCalls = append(out[i].TailCalls, tailCall{t.Name, t.Args, string(t.State), text.Middle(t.Display, maxDisplay)})
		}
	}
	return out
}
