package wrap

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"gemline/engine"
	"gemline/engine/redact"
)

// Tools returns the tools of ts with the secrets that r knows removed from the output of calls. A
// call that would overwrite a secret with its mark fails: the model has read the mark in the
// place of the file's secret.
func Tools(ts engine.Toolset, r *redact.Redactor) engine.Toolset {
	return engine.Map(ts, func(t engine.Tool) engine.Tool { return redactTool(t, r) })
}

func redactTool(t engine.Tool, r *redact.Redactor) engine.Tool {
	prepare := t.Prepare
	t.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
		call, err := prepare(ctx, args)
		if b, jerr := json.Marshal(args); t.Kind == engine.Edit && jerr == nil &&
			len(r.Marks(string(b))) > 0 && (err != nil || addsMark(call.Intent.Detail, r)) {
			return engine.Call{}, &engine.CallError{Type: engine.InvalidToolParams,
				Display: "a mark would be written in the place of a secret",
				Message: "The text holds a mark such as [redacted: NAME], which stands for a secret that you were not shown. Nothing was changed. " +
					"Edit around it with replace, or ask the user to write this part."}
		}
		if err != nil {
			return call, cleanError(err, r.RedactKnown)
		}
		run := call.Run
		call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
			h := &redactingHost{Host: host, r: r, out: r.Stream()}
			res, err := run(ctx, h)
			h.end()
			res.Text, res.Display, res.Media = r.RedactKnown(res.Text), r.RedactKnown(res.Display), cleanParts(res.Media, r.RedactKnown)
			return res, cleanError(err, r.RedactKnown)
		}
		return call, nil
	}
	return t
}

// addsMark reports whether a diff adds a mark, or is cut. A mark that the file already has is no
// addition.
func addsMark(diff string, r *redact.Redactor) bool {
	var added, removed strings.Builder
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+"):
			added.WriteString(line)
		case strings.HasPrefix(line, "-"):
			removed.WriteString(line)
		}
	}
	before := r.Marks(removed.String())
	for m, n := range r.Marks(added.String()) {
		if n > before[m] {
			return true
		}
	}
	return added.Len() == 0
}

// A redactingHost cleans the output of a call, even if a cut splits a secret.
type redactingHost struct {
	engine.Host
	r *redact.Redactor

	mu  sync.Mutex
	out *redact.Stream
}

// Emit implements [engine.Host].
func (h *redactingHost) Emit(ev engine.Event) {
	switch e := ev.(type) {
	case engine.NestedEvent:
		e.Event = nested(e.Event, h.r.RedactKnown)
		ev = e
	case engine.Output:
		h.mu.Lock()
		defer h.mu.Unlock()
		if e.Stage {
			e.Delta = h.r.RedactKnown(e.Delta)
		} else if e.Delta = h.out.Next(e.Delta); e.Delta == "" {
			return
		}
		ev = e
	case engine.Notice:
		e.Text = h.r.RedactKnown(e.Text)
		ev = e
	}
	h.Host.Emit(ev)
}

// nested returns an event of a conversation inside the call with its texts cleaned.
func nested(ev engine.Event, clean func(string) string) engine.Event {
	switch e := ev.(type) {
	case engine.NestedEvent:
		e.Event = nested(e.Event, clean)
		return e
	case engine.Text:
		return engine.Text{Delta: clean(e.Delta)}
	case engine.Output:
		e.Delta = clean(e.Delta)
		return e
	case engine.Notice:
		e.Text = clean(e.Text)
		return e
	case engine.CallStarted:
		e.Intent.Title = clean(e.Intent.Title)
		return e
	case engine.CallFinished:
		e.Intent.Title, e.Result.Text, e.Result.Display = clean(e.Intent.Title), clean(e.Result.Text), clean(e.Result.Display)
		e.Err = cleanError(e.Err, clean)
		return e
	}
	return ev
}

// end shows the text that was held back.
func (h *redactingHost) end() {
	if rest := h.out.End(); rest != "" {
		h.Host.Emit(engine.Output{Delta: rest})
	}
}
