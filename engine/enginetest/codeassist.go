package enginetest

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// Code Assist is another form of the same API: the body names the model, and requests and chunks
// are values of a key. A [Server] uses this form for paths without a model.

// assistAction returns the method of Code Assist in a path.
func assistAction(p string) (action string, ok bool) {
	_, action, ok = strings.Cut(path.Base(p), ":")
	return action, ok && !strings.Contains(p, "/models/")
}

// assistModel returns the model in a request to Code Assist.
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

// assist returns the reply to a method that only Code Assist has: got.Action, or with GET the
// operation in the path.
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

// enveloped returns w with chunks in Code Assist's envelope.
func (w Wire) enveloped() *Wire {
	frame := w.Frame
	if frame == nil {
		frame = Event
	}
	w.Frame = func(json string) string { return frame(`{"response":` + json + `,"traceId":"trace-1"}`) }
	return &w
}
