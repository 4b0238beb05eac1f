package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gemline/engine/text"
)

// A dialect is a version of the protocol over a transport.
type dialect struct {
	rest   bool
	second bool // version 1, else 0.3
}

// method returns the name of a method; name is the name in version 0.3.
func (d dialect) method(name string) string {
	if !d.second {
		return name
	}
	return map[string]string{send: "SendMessage", stream: "SendStreamingMessage", get: "GetTask",
		cancel: "CancelTask"}[name]
}

// The methods.
const (
	send   = "message/send"
	stream = "message/stream"
	get    = "tasks/get"
	cancel = "tasks/cancel"
)

// path returns where a REST server is asked, and how.
func (d dialect) path(name, id string) (verb, path string) {
	verb, path = "POST", "/"+strings.Replace(name, "/", ":", 1)
	switch name {
	case get:
		verb, path = "GET", "/tasks/"+id
	case cancel:
		path = "/tasks/" + id + ":cancel"
	}
	if !d.second {
		path = "/v1" + path
	}
	return verb, path
}

// saying returns the parameters that say something to an agent.
func (d dialect) saying(id, words string, in Place) any {
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

// The messages of an agent, in the forms of all versions. Only one of two alternative
// fields is set.
type (
	message struct {
		Role, ContextID, TaskID string
		Parts, Content          []part
	}
	part struct {
		Kind, Text, URL, Filename string
		Data                      json.RawMessage
		File                      *file
		Raw                       json.RawMessage
	}
	file   struct{ Name, URI, FileWithURI string }
	status struct {
		State           string
		Message, Update *message
	}
	artifact struct {
		ArtifactID, Name string
		Parts            []part
	}
	task struct {
		ID, ContextID string
		Status        status
		Artifacts     []artifact
		History       []message
	}
	statusUpdate struct {
		TaskID, ContextID string
		Status            status
	}
	artifactUpdate struct {
		TaskID, ContextID string
		Append            bool
		Artifact          artifact
	}
)

// A said is a message of an agent; one field is not nil.
type said struct {
	Message  *message
	Task     *task
	Status   *statusUpdate
	Artifact *artifactUpdate
}

var errForeign = errors.New("what the agent sends is nothing that the protocol knows")

// decode reads what an agent says.
func decode(b []byte) (s said, err error) {
	var outer struct {
		Kind                               string
		Msg, Message, Task, StatusUpdate   json.RawMessage
		ArtifactUpdate, Parts, Content, ID json.RawMessage
	}
	if err := json.Unmarshal(b, &outer); err != nil {
		return s, fmt.Errorf("what the agent sends is no JSON of the protocol: %w", err)
	}
	var into any
	switch {
	case outer.Kind == "message", outer.Parts != nil, outer.Content != nil:
		into = &s.Message
	case outer.Kind == "status-update":
		into = &s.Status
	case outer.Kind == "artifact-update":
		into = &s.Artifact
	case outer.Kind == "task", outer.ID != nil:
		into = &s.Task
	case outer.StatusUpdate != nil:
		b, into = outer.StatusUpdate, &s.Status
	case outer.ArtifactUpdate != nil:
		b, into = outer.ArtifactUpdate, &s.Artifact
	case outer.Task != nil:
		b, into = outer.Task, &s.Task
	case outer.Message != nil:
		b, into = outer.Message, &s.Message
	case outer.Msg != nil:
		b, into = outer.Msg, &s.Message
	default:
		return s, errForeign
	}
	if err := json.Unmarshal(b, into); err != nil {
		return said{}, fmt.Errorf("what the agent sends is no JSON of the protocol: %w", err)
	}
	return s, nil
}

// The states of a task that have a meaning here.
const (
	submitted     = "submitted"
	working       = "working"
	completed     = "completed"
	failed        = "failed"
	canceled      = "canceled"
	rejected      = "rejected"
	inputRequired = "input-required"
	authRequired  = "auth-required"
)

// state returns the state of a task as version 0.3 has it.
func (s status) state() string {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.State, "TASK_STATE_")), "_", "-")
	if name == "cancelled" {
		return canceled
	}
	return name
}

// over reports whether nothing more comes of a task in that state.
func over(state string) bool {
	return state == completed || state == failed || state == canceled || state == rejected
}

func (s status) message() *message {
	if s.Message != nil {
		return s.Message
	}
	return s.Update
}

// words returns the words of a message, none for a user's message.
func (m *message) words(all bool) string {
	if m == nil || strings.EqualFold(m.Role, "user") || m.Role == "ROLE_USER" {
		return ""
	}
	if m.Parts != nil {
		return words(m.Parts, all)
	}
	return words(m.Content, all)
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

// data returns the JSON of a part, without what the other form puts around it.
func data(p part) string {
	b := p.Data
	var around map[string]json.RawMessage
	if p.Kind == "" && json.Unmarshal(b, &around) == nil && len(around) == 1 &&
		len(around["data"]) > 0 && around["data"][0] == '{' {
		b = around["data"]
	}
	return text.Compact(b)
}
