package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	protocol "github.com/a2aproject/a2a-go/a2a"

	"gemline/engine/text"
)

// A version is the version of the protocol, with its transport.
type version struct {
	rest   bool
	second bool // version 1, else 0.3
}

// A method is a method of the protocol: its names in both versions, and the verb and the path for
// a REST server.
type method struct{ first, second, verb, path string }

var (
	send   = method{"message/send", "SendMessage", http.MethodPost, "/message:send"}
	stream = method{"message/stream", "SendStreamingMessage", http.MethodPost, "/message:stream"}
	get    = method{"tasks/get", "GetTask", http.MethodGet, "/tasks/{id}"}
	cancel = method{"tasks/cancel", "CancelTask", http.MethodPost, "/tasks/{id}:cancel"}
)

// messageParams returns the parameters of a message to an agent.
func (d version) messageParams(id, words string, in TaskRef) map[string]any {
	m := map[string]any{"messageId": id, "role": "user"}
	part := map[string]any{"text": words}
	list := "parts"
	if d.rest || d.second {
		m["role"] = "ROLE_USER"
	} else {
		m["kind"], part["kind"] = "message", "text"
	}
	if d.rest && !d.second {
		list = "content"
	}
	m[list] = []any{part}
	if in.Context != "" {
		m["contextId"] = in.Context
	}
	if in.Task != "" {
		m["taskId"] = in.Task
	}
	params := map[string]any{"message": m}
	if !d.second {
		params["configuration"] = map[string]any{"blocking": true}
	}
	return params
}

// A message is a message, a task or an update of a task, in the forms of all versions. Only one
// of two alternative fields is set.
type (
	message struct {
		Kind, Role, TaskID, ContextID string
		ID                            any    // of a task or an answer
		Parts, Content                []part // of a message
		Status                        *status
		Artifact                      *artifact
		Append                        bool
		Artifacts                     []artifact // of a task
		History                       []message  // messages
	}
	envelope struct { // wraps a message, or an answer of JSON-RPC
		message
		Msg, Message, Task, StatusUpdate, ArtifactUpdate *message
		Result                                           *envelope
		Error                                            *fault
	}
	part struct {
		Kind, Text, URL, Filename string
		Data, Raw                 json.RawMessage
		File                      *struct{ Name, URI, FileWithURI string }
	}
	status struct {
		State           string
		Message, Update *message
	}
	artifact struct {
		ArtifactID, Name string
		Parts            []part
	}
)

var errUnknownMessage = errors.New("the agent's message is none of the protocol")

// decode reads a message of an agent.
func decode(b []byte) (s message, err error) {
	var e envelope
	if err := json.Unmarshal(b, &e); err != nil {
		return s, fmt.Errorf("the agent's message is no JSON of the protocol: %w", err)
	}
	if e.Error != nil {
		return s, e.Error
	}
	e = *cmp.Or(e.Result, &e)
	if s = e.message; s.Kind == "" {
		s = *cmp.Or(e.StatusUpdate, e.ArtifactUpdate, e.Task, e.Message, e.Msg, &s)
	}
	if s.Parts == nil && s.Content == nil && s.Status == nil && s.Artifact == nil {
		return message{}, errUnknownMessage
	}
	return s, nil
}

// state returns the state of a task by its name in version 0.3.
func (s status) state() protocol.TaskState {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.State, "TASK_STATE_")), "_", "-")
	if name == "cancelled" {
		return protocol.TaskStateCanceled
	}
	return protocol.TaskState(name)
}

// words returns the words of a message, none for a user's message.
func (s *message) words(all bool) string {
	if s == nil || strings.EqualFold(s.Role, "user") || s.Role == "ROLE_USER" {
		return ""
	}
	return words(append(s.Parts, s.Content...), all)
}

// words returns the words of parts, each on lines of its own; with all, data too.
func words(parts []part, all bool) string {
	var lines []string
	for _, p := range parts {
		switch {
		case p.Kind == "text", p.Kind == "" && p.Text != "":
			lines = append(lines, p.Text)
		case p.Data != nil && !all:
		case p.Data != nil:
			lines = append(lines, "Data: "+data(p))
		case p.File != nil:
			lines = append(lines, "File: "+cmp.Or(p.File.Name, p.File.URI, p.File.FileWithURI, "unnamed"))
		case p.URL != "" || p.Raw != nil:
			lines = append(lines, "File: "+cmp.Or(p.Filename, p.URL, "unnamed"))
		}
	}
	return strings.Join(lines, "\n")
}

// data returns the JSON of a part, without the wrapper of the other version.
func data(p part) string {
	b := p.Data
	var around map[string]json.RawMessage
	if p.Kind == "" && json.Unmarshal(b, &around) == nil && len(around) == 1 &&
		len(around["data"]) > 0 && around["data"][0] == '{' {
		b = around["data"]
	}
	return text.Compact(b)
}
