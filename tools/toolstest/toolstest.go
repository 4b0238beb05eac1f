// Package toolstest prepares and runs calls of tools, for their tests.
package toolstest

import (
	"context"
	"encoding/json"
	"testing"

	"gemline/engine"
)

// A Desk is a host whose user always gives the same answer. It records questions and events.
type Desk struct {
	Answer engine.Answer
	Err    error
	Asked  []engine.Proposal
	Events []engine.Event
}

// Emit implements [engine.Host].
func (d *Desk) Emit(ev engine.Event) { d.Events = append(d.Events, ev) }

// Approve implements [engine.Host].
func (d *Desk) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	d.Asked = append(d.Asked, p)
	return d.Answer, d.Err
}

// Prepare prepares a call of tool with arguments in JSON.
func Prepare(t testing.TB, tool engine.Tool, args string) (engine.Call, error) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(args), &m); err != nil {
		t.Fatal(args, err)
	}
	return tool.Prepare(t.Context(), m)
}

// Message returns the text of an error, "" if there is none.
func Message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
