package enginetest

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// Code Assist is another dress of the same API: the model is named in the
// body, a request is the value of a key, and so is each chunk of an answer. A
// [Server] wears it where a path names no model.

// assistAction returns the method that a path asks of Code Assist.
func assistAction(p string) (action string, ok bool) {
	_, action, ok = strings.Cut(path.Base(p), ":")
	return action, ok && !strings.Contains(p, "/models/")
}

// assistModel returns the model that a request to Code Assist names.
func assistModel(body []byte) string {
	var b struct {
		Model   string
		Request struct{ Model string }
	}
	if json.Unmarshal(body, &b) != nil {
		return ""
	}
	return b.Model + strings.TrimPrefix(b.Request.Model, "models/")
}

// assist returns the reply to what only Code Assist is asked: got.Action, or
// with GET the operation that the path names.
func (s *Server) assist(got Received) (Reply, bool) {
	name := got.Action
	if got.Method == http.MethodGet {
		_, name, _ = strings.Cut(strings.TrimPrefix(got.Path, "/"), "/")
	}
	replies := s.Assist[name]
	if len(replies) == 0 {
		return Reply{}, false
	}
	if len(replies) > 1 { // the last one stays
		s.Assist[name] = replies[1:]
	}
	return replies[0], true
}

// enveloped returns wire for chunks, as Code Assist sends them.
func (w Wire) enveloped() *Wire {
	frame := w.Frame
	if frame == nil {
		frame = Event
	}
	w.Frame = func(json string) string { return frame(`{"response":` + json + `,"traceId":"trace-1"}`) }
	return &w
}
