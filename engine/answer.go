package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/model/catalog"
)

// answer puts the answers to jobs into the history and the journal.
func (e *Engine) answer(jobs []*job, emit emitFunc) error {
	var parts, injected []*genai.Part
	records := make([]CallRecord, len(jobs))
	for i, j := range jobs {
		parts = append(parts, j.answer...)
		injected = append(injected, j.injected...)
		records[i] = j.record()
	}
	c := genai.NewContentFromParts(parts, genai.RoleUser)
	e.history = append(e.history, c)
	e.waiting = true
	err := e.record(Entry{Content: c, Calls: records}, emit)
	if len(injected) > 0 {
		media := genai.NewContentFromParts(injected, genai.RoleUser)
		e.history = append(e.history, InterruptionMessage(injected), media)
		err = cmp.Or(err, e.record(Entry{Content: media}, emit))
	}
	return err
}

// record returns the journal's record of a finished job.
func (j *job) record() CallRecord {
	return CallRecord{ID: CallID(j.fc), Tool: j.tool, Name: j.fc.Name, Args: j.fc.Args,
		Intent: j.intent, Answer: j.answer, Result: j.result, Err: j.err, At: j.at}
}

// recordResult records the outcome of j.
func (e *Engine) recordResult(j *job, emit emitFunc) error {
	if e.cfg.Journal == nil || j.aside {
		return nil
	}
	if err := e.cfg.Journal.Result(j.record()); err != nil {
		return emit(Notice{Text: e.unrecorded(err).Error()})
	}
	return nil
}

// response returns the answer to a call: its parts, and in injected the media that the API does
// not accept in an answer, for a message of their own.
func response(fc *genai.FunctionCall, r Result, err error, model string) (parts, injected []*genai.Part) {
	fr := &genai.FunctionResponse{ID: fc.ID, Name: fc.Name, Response: map[string]any{}}
	output := r.Text
	var siblings []*genai.Part
	var stripped []string
	for _, p := range r.Media {
		switch b := p.InlineData; {
		case b == nil: // data by reference
			siblings = append(siblings, p)
		case isAudioVideo(b):
			stripped = append(stripped, b.MIMEType)
			injected = append(injected, p)
		case catalog.Lookup(model).Kin.Media:
			fr.Parts = append(fr.Parts, &genai.FunctionResponsePart{
				InlineData: &genai.FunctionResponseBlob{MIMEType: b.MIMEType, Data: b.Data}})
		default:
			siblings = append(siblings, p)
		}
	}
	if output == "" && len(r.Media) > 0 {
		output = fmt.Sprintf("Binary content provided (%d item(s)).", len(r.Media))
	}
	if len(stripped) > 0 {
		output = fmt.Sprintf("Binary content (%s) read successfully. Content will be injected for analysis in the next sequence.",
			strings.Join(slices.Compact(stripped), ", "))
	}
	switch {
	case err == nil:
		fr.Response["output"] = output
	case output != "" && Outcome(err) == Cancelled:
		fr.Response["output"] = output // of the part that ran before the cancellation
		fr.Response["error"] = err.Error()
	default:
		fr.Response["error"] = err.Error()
	}
	return append([]*genai.Part{{FunctionResponse: fr}}, siblings...), injected
}

// addNote appends the note about dropped arguments to the answer.
func (j *job) addNote() {
	if j.note == "" {
		return
	}
	said := j.answer[0].FunctionResponse.Response
	for _, key := range []string{"output", "error"} {
		if text, ok := said[key].(string); ok {
			said[key] = text + "\n\nNote: passed over, since the tool has no such argument: " + j.note
			return
		}
	}
}

// DisplayError returns what the user reads about a failed call.
func DisplayError(err error) string {
	var ce *CallError
	switch {
	case errors.As(err, &ce) && ce.Display != "":
		return ce.Display
	case Outcome(err) == Cancelled:
		var r refusal
		if errors.As(err, &r) {
			return "refused"
		}
		return "cancelled"
	}
	return err.Error()
}

// ErrorType returns the class of a failed call, for scripts.
func ErrorType(err error) string {
	if ce := (*CallError)(nil); errors.As(err, &ce) && ce.Type != "" {
		return ce.Type
	}
	return ExecutionFailed
}
