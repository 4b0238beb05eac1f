package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// skipSignature replaces a missing signature of a call; the API accepts it unchecked. On the wire
// it is the text skip_thought_signature_validator.
var skipSignature = func() []byte {
	b, err := base64.URLEncoding.DecodeString("skip_thought_signature_validator")
	if err != nil {
		panic(err) // a mistake in this file
	}
	return b
}()

// WithoutSignatures replaces each signature for which refused is true by a placeholder, which the
// API accepts unchecked. It returns c itself if it replaced none. Refused is not asked about the
// placeholder.
func WithoutSignatures(c *genai.Content, refused func(signature []byte) bool) *genai.Content {
	if c == nil {
		return nil
	}
	out := c
	for i, p := range c.Parts {
		if p == nil || len(p.ThoughtSignature) == 0 || bytes.Equal(p.ThoughtSignature, skipSignature) ||
			!refused(p.ThoughtSignature) {
			continue
		}
		if out == c {
			out = &genai.Content{Role: c.Role, Parts: slices.Clone(c.Parts)}
		}
		q := *p
		q.ThoughtSignature = skipSignature
		out.Parts[i] = &q
	}
	return out
}

// interruption takes the place of a missing answer of the model.
const interruption = "[The previous response was interrupted before it completed.]"

// InterruptionMessage returns the model's message between the answers to its calls and parts of
// the user. It says that the model was interrupted or, if parts are only audio and video, which
// the API does not accept in an answer, that the model has received them.
func InterruptionMessage(parts []*genai.Part) *genai.Content {
	if slices.ContainsFunc(parts, func(p *genai.Part) bool { return !isAudioVideo(p.InlineData) }) {
		return genai.NewContentFromText(interruption, genai.RoleModel)
	}
	return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
		{Text: "Binary content received. Proceeding with analysis.", Thought: true, ThoughtSignature: skipSignature}}}
}

// isAudioVideo reports whether b is audio or video, which the API does not accept in the answer
// to a call.
func isAudioVideo(b *genai.Blob) bool {
	return b != nil && (strings.HasPrefix(b.MIMEType, "audio/") || strings.HasPrefix(b.MIMEType, "video/"))
}

// Note returns a note of the program to the model, which goes with the next question.
func Note(text string) *genai.Part { return genai.NewPartFromText("<note>" + text + "</note>") }

// MidTurnNote returns a note of the program to the model during a turn.
func MidTurnNote(text string) string { return "<system_note>\n" + text + "\n</system_note>" }

// NoteText returns the text inside a note, "" if the given text is no note.
func NoteText(text string) string {
	said, ok := strings.CutPrefix(strings.TrimSpace(text), "<note>")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(said, "</note>")
}

// ShellCommand begins the message about a command that the user ran; the command follows.
const ShellCommand = "I ran the following shell command:\n```sh\n"

// Waiting reports whether the last message of a conversation waits for an answer. Notes and
// commands of the user's do not.
func Waiting(said []*genai.Content) bool {
	for _, c := range slices.Backward(said) {
		if len(c.Parts) != 1 || c.Parts[0] == nil || c.Role != genai.RoleUser ||
			NoteText(c.Parts[0].Text) == "" && !strings.HasPrefix(c.Parts[0].Text, ShellCommand) {
			return c.Role == genai.RoleUser
		}
	}
	return false
}

// interrupted closes a history whose last message got no answer, so that the next question is a
// message of its own.
func (e *Engine) interrupted(emit emitFunc) error {
	if !e.waiting {
		return nil
	}
	e.waiting = false
	c := genai.NewContentFromText(interruption, genai.RoleModel)
	e.history = append(e.history, c)
	return e.record(Entry{Content: c, Model: e.cfg.Model}, emit)
}

// A wire is the converted part of the history, in the form of requests.
type wire struct {
	contents []*genai.Content
	made     int // messages of the history that are in contents
}

// contents returns the history as a request carries it: neighbouring messages
// of one role merged, and the first call of every message signed. Messages that
// need no change are shared with the history. Messages that were sent keep their bytes in
// later requests, so that a server's prompt cache matches them.
func (e *Engine) contents() []*genai.Content {
	w := &e.wire
	for _, c := range e.history[w.made:] {
		c = withSignature(c)
		if n := len(w.contents); n > 0 && w.contents[n-1].Role == c.Role {
			w.contents[n-1] = &genai.Content{Role: c.Role, Parts: slices.Concat(w.contents[n-1].Parts, c.Parts)}
			continue
		}
		w.contents = append(w.contents, c)
	}
	w.made = len(e.history)
	return slices.Clone(w.contents) // the last one may be merged with the next
}

// withSignature returns c with its first call signed.
func withSignature(c *genai.Content) *genai.Content {
	if c.Role != genai.RoleModel {
		return c
	}
	for i, p := range c.Parts {
		if p.FunctionCall == nil {
			continue
		}
		if len(p.ThoughtSignature) > 0 {
			return c
		}
		q := *p
		q.ThoughtSignature = skipSignature
		parts := slices.Clone(c.Parts)
		parts[i] = &q
		return &genai.Content{Role: c.Role, Parts: parts}
	}
	return c
}

// cancelCalls answers calls that were cancelled before they ran.
func (e *Engine) cancelCalls(fcs []*genai.FunctionCall, cause error) {
	if len(fcs) == 0 {
		return
	}
	jobs := make([]*job, len(fcs))
	for i, fc := range fcs {
		jobs[i] = &job{fc: fc, err: cancelled(cause, "Operation cancelled by user")}
		jobs[i].answer, jobs[i].injected = response(fc, Result{}, jobs[i].err, e.cfg.Model)
	}
	e.answer(jobs, func(Event) error { return nil })
}

// cancelled returns the error of a cancelled call; it wraps cause, which distinguishes it from a
// failure.
func cancelled(cause error, why string) error {
	if cause == nil || cause == errStopped {
		cause = context.Canceled
	}
	return &cancellation{why: "[Operation Cancelled] Reason: " + why, cause: cause}
}

type cancellation struct {
	why   string
	cause error
}

func (c *cancellation) Error() string { return c.why }

// Unwrap makes every cancellation a context.Canceled, even after a deadline.
func (c *cancellation) Unwrap() []error { return []error{context.Canceled, c.cause} }
