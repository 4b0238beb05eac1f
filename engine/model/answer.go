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

// errEmptyAnswer is the error of an empty answer that ends normally and follows successful
// calls: the model's way of being done.
var errEmptyAnswer = errors.New("the model ended without an answer after its calls")

// An answer holds the properties of an incoming answer that decide whether the answer is
// valid.
type answer struct {
	afterSuccess bool // the request has results of calls, and none of them failed

	chunks  int
	calls   bool
	thought bool
	finish  genai.FinishReason
	why     string          // what the server adds to the finish reason
	visible bool            // something was said or shown
	text    strings.Builder // all that was said, while nothing is visible
}

// observe takes in a chunk. An error means that the model will not answer.
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

// say takes in text that is meant for reading.
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

// seen reports whether there is something to read.
func (a *answer) seen() bool {
	return a.visible || strings.TrimFunc(uncommented(a.text.String()), unseen) != ""
}

// unseen reports whether r leaves no mark on the screen.
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
			b.WriteString("<!--" + rest) // it was none
			return b.String()
		}
	}
}

// check returns why a is no answer, or nil if it is one.
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

// closingNote is for a model that has done its work and says nothing.
const closingNote = "[System: Your last turn was empty. If you are done, say in one sentence what you did; if not, go on.]"

// withHint returns cs with a word to a model that has said nothing. Other codes
// leave cs as it is.
func withHint(cs []*genai.Content, code string) []*genai.Content {
	switch code {
	case thinkingOnly:
		return appendNote(cs, "[System: Your last turn held thoughts only and no answer for the user. Give your final answer or call a tool now.]")
	case noText:
		return appendNote(cs, "[System: Your last turn was empty. Give your final answer or call a tool now.]")
	}
	return cs
}

// ToolsDone returns a message of the model's to put between the answers to its calls and the user's
// next message.
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
