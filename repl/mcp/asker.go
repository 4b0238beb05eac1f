package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/repl/serve"
)

// An asker is the [engine.Approver] of a conversation. It asks the client, on behalf of the running
// call.
type asker struct {
	client *client
	now    atomic.Pointer[runningCall]
}

// notify sends a warning to the client.
func (a *asker) notify(said string) {
	if r := a.now.Load(); r != nil {
		r.log(protocol.LoggingLevelWarning, said)
	}
}

const (
	decision = "decision"
	note     = "note"
)

// Approve implements [engine.Approver].
func (a *asker) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.Intent.Questions) > 0 {
		return a.questions(ctx, p)
	}
	options := question.LabelledAnswers(p)
	labels := lists.Map(options, func(o question.LabelledAnswer) string { return a.client.plain(o.Label) })
	said, unanswered, err := a.elicit(ctx, serve.Describe(p), []field{
		{decision, map[string]any{"type": "string", "title": "May it be done?", "enum": labels}, true},
		{note, map[string]any{"type": "string", "title": "What the model is told if not"}, false}})
	if unanswered != nil || err != nil {
		return unanswered, err
	}
	i := slices.Index(labels, fmt.Sprint(said[decision]))
	if i < 0 {
		return engine.Refused{}, nil
	}
	if options[i].Answer == nil {
		words, _ := said[note].(string)
		return engine.Refused{Note: words}, nil
	}
	return options[i].Answer, nil
}

// questions asks the model's questions.
func (a *asker) questions(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	var fields []field
	for i, q := range p.Intent.Questions {
		fields = append(fields, a.field(fmt.Sprintf("answer%d", i+1), q))
	}
	said, unanswered, err := a.elicit(ctx, "gemline asks: "+output.Escape(question.Title(p)), fields)
	if unanswered != nil || err != nil {
		return unanswered, err
	}
	replies := make([]string, len(fields))
	for i, f := range fields {
		switch v := said[f.name].(type) {
		case string:
			replies[i] = v
		case bool:
			replies[i] = map[bool]string{true: engine.Yes, false: engine.No}[v]
		case []any:
			replies[i] = strings.Join(lists.Map(v, func(w any) string { return fmt.Sprint(w) }), ", ")
		}
	}
	return engine.Replied{Replies: replies}, nil
}

// field converts a question of the model into a field of a form.
func (a *asker) field(name string, q engine.Question) field {
	s := map[string]any{"type": "string", "title": output.EscapeLine(q.Text)}
	about := q.Hint
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, output.EscapeLine(o.Label))
		if o.Description != "" {
			about += "\n" + o.Label + ": " + o.Description
		}
	}
	switch {
	case q.Kind == engine.YesNo:
		s["type"] = "boolean"
	case len(labels) == 0:
	case q.Kind == engine.MultipleChoice && q.Multi && a.client.several:
		s["type"], s["items"] = "array", map[string]any{"type": "string", "enum": labels}
	case q.Kind == engine.MultipleChoice && !q.Multi:
		s["enum"] = labels
	case q.Kind == engine.MultipleChoice:
		about += "\nSome of these, separated by commas: " + strings.Join(labels, ", ")
	}
	if about = strings.TrimSpace(about); about != "" {
		s["description"] = output.Escape(about)
	}
	return field{name, s, false}
}

// A field is a field of a form.
type field struct {
	name   string
	schema map[string]any
	needed bool
}

// elicit lets the client ask its user. If the user does not answer, unanswered is the answer to the
// engine.
func (a *asker) elicit(ctx context.Context, message string, fields []field) (said map[string]any, unanswered engine.Answer, err error) {
	r := a.now.Load()
	properties, needed := map[string]any{}, []string{}
	for _, f := range fields {
		properties[f.name] = f.schema
		if f.needed {
			needed = append(needed, f.name)
		}
	}
	r.progress("the user is asked")
	res := protocol.ElicitationResponse{Content: &said}
	err = r.peer.Call(ctx, protocol.MethodElicitationCreate,
		protocol.ElicitationParams{Message: a.client.plain(message),
			RequestedSchema: map[string]any{"type": "object", "properties": properties,
				"required": needed}}, &res)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, engine.Unasked{Advice: "the client could not ask: " + text.OneLine(output.EscapeLine(err.Error()), 300)}, nil
	case res.Action != protocol.ElicitationResponseActionAccept:
		return nil, engine.Refused{}, nil
	}
	return said, nil, nil
}
