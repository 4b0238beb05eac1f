package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// skipSignature stands for the signature of a call whose own was lost or never
// given; the API takes it instead of checking. On the wire it is the text
// skip_thought_signature_validator.
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

// interruption stands where the model's answer would have been.
const interruption = "[The previous response was interrupted before it completed.]"

// InterruptionMessage returns what stands for the model between the answers to its calls and
// parts of the user: that it was interrupted, or, if parts are nothing but sound
// and film that an answer has no room for, that it has received them.
func InterruptionMessage(parts []*genai.Part) *genai.Content {
	if slices.ContainsFunc(parts, func(p *genai.Part) bool { return !isAudioVideo(p.InlineData) }) {
		return genai.NewContentFromText(interruption, genai.RoleModel)
	}
	return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
		{Text: "Binary content received. Proceeding with analysis.", Thought: true, ThoughtSignature: skipSignature}}}
}

// isAudioVideo reports whether b is of a kind that the answer to a call has no room for.
func isAudioVideo(b *genai.Blob) bool {
	return b != nil && (strings.HasPrefix(b.MIMEType, "audio/") || strings.HasPrefix(b.MIMEType, "video/"))
}

// Note returns what the model is told with the next question, and nobody has said.
func Note(text string) *genai.Part { return genai.NewPartFromText("<note>" + text + "</note>") }

// MidTurnNote returns what the model is told in the midst of a turn, and nobody has said.
func MidTurnNote(text string) string { return "<system_note>\n" + text + "\n</system_note>" }

// NoteText returns what a note says, "" if a text is none.
func NoteText(text string) string {
	said, ok := strings.CutPrefix(strings.TrimSpace(text), "<note>")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(said, "</note>")
}

// ShellCommand is the beginning of the message that tells the model of a command of the user's;
// the command follows.
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

// interrupted closes a history whose last message waits for an answer that
// never came, so that the next question stands by itself.
func (e *Engine) interrupted(emit emitFunc) error {
	if !e.waiting {
		return nil
	}
	e.waiting = false
	c := genai.NewContentFromText(interruption, genai.RoleModel)
	e.history = append(e.history, c)
	return e.record(Entry{Content: c, Model: e.cfg.Model}, emit)
}

// A wire is the history in the form of requests, as far as it was converted.
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

// cancelCalls answers calls that never got as far as being carried out.
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

// cancelled is the error of a call that a cancellation reached; cause is kept
// so that the call's outcome is told from a failure.
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

// Unwrap makes every cancellation a context.Canceled, also one by deadline.
func (c *cancellation) Unwrap() []error { return []error{context.Canceled, c.cause} }
