package model

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/genai"

	"gemline/engine"
)

// Codes of invalid answers.
const (
	thinkingOnly = "THINKING_ONLY_RESPONSE"
	noText       = "NO_RESPONSE_TEXT"
)

// errEmptyAnswer is the error of an empty answer that ends normally after successful calls: the
// model considers the work done.
var errEmptyAnswer = errors.New("the model ended without an answer after its calls")

// An answer has the properties of an incoming answer that determine whether it is valid.
type answer struct {
	afterSuccess bool // the request has results of calls, and none of them failed

	chunks  int
	calls   bool
	thought bool
	finish  genai.FinishReason
	why     string          // the server's message beside the finish reason
	visible bool            // the answer has visible content
	text    strings.Builder // the text so far, while nothing is visible
}

// observe processes a chunk. An error means that the model refuses to answer.
func (a *answer) observe(chunk *genai.GenerateContentResponse) error {
	if f := chunk.PromptFeedback; f != nil && f.BlockReason != "" {
		e := &Error{Kind: Refused, Code: string(f.BlockReason), Final: true, Answering: true, Advice: hintRephrase,
			Message: "the model's server refuses to answer: " + string(f.BlockReason)}
		if f.BlockReasonMessage != "" {
			e.Message += ": " + oneLine(f.BlockReasonMessage)
		}
		return e
	}
	a.chunks++
	if len(chunk.Candidates) == 0 || chunk.Candidates[0] == nil {
		return nil
	}
	c := chunk.Candidates[0]
	if c.FinishReason != "" && c.FinishReason != genai.FinishReasonUnspecified {
		a.finish, a.why = c.FinishReason, c.FinishMessage
	}
	if c.Content == nil {
		return nil
	}
	for _, p := range c.Content.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			a.calls = true
		case p.Thought:
			a.thought = true
		case p.InlineData != nil, p.FileData != nil, p.ExecutableCode != nil, p.CodeExecutionResult != nil:
			a.visible = true
		default:
			a.say(p.Text)
		}
	}
	return nil
}

// say appends text for the reader.
func (a *answer) say(s string) {
	if a.visible || s == "" {
		return
	}
	if a.text.Len() == 0 { // the usual case needs no copy
		if s = strings.TrimLeftFunc(s, unseen); s != "" && s[0] != '<' {
			a.visible = true
			return
		}
	}
	a.text.WriteString(s)
}

// seen reports whether the answer has something to read.
func (a *answer) seen() bool {
	return a.visible || strings.TrimFunc(uncommented(a.text.String()), unseen) != ""
}

// unseen reports whether r is invisible.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u200b\u200c\u200d\ufeff\u200e\u200f", r)
}

// uncommented returns s without HTML comments.
func uncommented(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<!--")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if _, s, ok = strings.Cut(rest, "-->"); !ok {
			b.WriteString("<!--" + rest) // the comment has no end
			return b.String()
		}
	}
}

// check returns an error if a is invalid.
func (a *answer) check() error {
	if a.calls {
		return nil
	}
	e := &Error{Kind: Invalid, Code: string(a.finish), Answering: true}
	switch reason := a.finish; {
	case reason == "":
		e.Code, e.Message = "NO_FINISH_REASON", "the answer broke off"
	case reason == genai.FinishReasonMalformedFunctionCall:
		e.Message = "the model wrote a tool call that can't be read"
	case reason == genai.FinishReasonUnexpectedToolCall:
		e.Message = "the model called a tool where none may be called"
	case reason == genai.FinishReasonTooManyToolCalls:
		e.Message = "the model made too many tool calls at once"
	case a.seen():
		return nil
	case reason == genai.FinishReasonMaxTokens:
		e.Code, e.Advice = "MAX_TOKENS_EXCEEDED", hintTooLong
		e.Message = "the model used up its tokens before it answered"
	case blocked(reason):
		e.Kind, e.Code, e.Advice = Refused, string(reason)+"_BLOCKED", hintRephrase
		e.Message = "the answer was withheld by the model's server: " + string(reason)
	case a.thought:
		e.Code, e.Advice = thinkingOnly, hintTooLong
		e.Message = "the model thought, but did not answer"
	case a.afterSuccess && reason == genai.FinishReasonStop:
		return errEmptyAnswer
	default:
		e.Code, e.Message = noText, "the model's answer is empty"
	}
	if a.why != "" {
		e.Message += ": " + oneLine(a.why)
	}
	return e
}

// blocked reports whether an answer that ended for this reason was withheld.
func blocked(r genai.FinishReason) bool {
	switch r {
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonOther, genai.FinishReasonLanguage,
		genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII,
		genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation,
		genai.FinishReasonImageOther:
		return true
	}
	return false
}

// answers reports whether cs ends with results of calls.
func answers(cs []*genai.Content) bool {
	return len(cs) > 0 && engine.HasAnswers(cs[len(cs)-1])
}

// succeeded reports whether cs ends with results of calls none of which failed.
func succeeded(cs []*genai.Content) bool {
	return answers(cs) && !slices.ContainsFunc(cs[len(cs)-1].Parts, func(p *genai.Part) bool {
		if p == nil || p.FunctionResponse == nil {
			return false
		}
		_, failed := p.FunctionResponse.Response["error"]
		return failed
	})
}

// closingNote asks a model that has finished its work for a closing sentence.
const closingNote = "[System: Your last turn was empty. If you are done, say in one sentence what you did; if not, go on.]"

// withHint returns cs with a note to a model that gave an empty answer. For other codes it
// returns cs.
func withHint(cs []*genai.Content, code string) []*genai.Content {
	switch code {
	case thinkingOnly:
		return appendNote(cs, "[System: Your last turn held thoughts only and no answer for the user. Give your final answer or call a tool now.]")
	case noText:
		return appendNote(cs, "[System: Your last turn was empty. Give your final answer or call a tool now.]")
	}
	return cs
}

// ToolsDone returns a message of the model for the place between the answers to its calls and the
// user's next message.
func ToolsDone() *genai.Content {
	return genai.NewContentFromText("[Tool execution completed.]", genai.RoleModel)
}

// appendNote returns cs with a note to the model.
func appendNote(cs []*genai.Content, note string) []*genai.Content {
	last := len(cs) - 1
	switch {
	case answers(cs):
		return append(slices.Clone(cs),
			ToolsDone(), genai.NewContentFromText(note, genai.RoleUser))
	case last >= 0 && cs[last] != nil && cs[last].Role == genai.RoleUser:
		cs = slices.Clone(cs)
		cs[last] = &genai.Content{Role: genai.RoleUser,
			Parts: append(slices.Clone(cs[last].Parts), &genai.Part{Text: "\n" + note})}
		return cs
	}
	return append(slices.Clone(cs), genai.NewContentFromText(note, genai.RoleUser))
}
