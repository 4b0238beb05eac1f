package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/genai"
)

// An Event is something the user may want to see. It is one of [RequestStarted], [Text], [Thought],
// [CallRequested], [CallStateChanged], [CallStarted], [Output], [CallFinished], [AnswerFinished],
// [Usage], [Retry], [Notice], [Citations], [CheckFinished] or [NestedEvent].
type Event interface{ event() }

type (
	// RequestStarted says that a request is about to be sent.
	RequestStarted struct {
		Number int    // counted from 1 over the life of the Engine
		Model  string // the requested model; another model may answer
	}

	// Text is a piece of the model's answer.
	Text struct{ Delta string }

	// Thought is a piece of the model's reasoning.
	Thought struct{ Delta string }

	// CallRequested says that the model asks for a call. Every CallRequested is followed by a
	// CallFinished with its ID, unless the consumer leaves the loop before.
	CallRequested struct {
		ID   string // unique in the conversation, "<name>__<the API's id>"
		Name string
		Args map[string]any
	}

	// CallStateChanged reports the new state of a call.
	CallStateChanged struct {
		ID    string
		Name  string
		State CallState
	}

	// CallStarted says that a call begins to run.
	CallStarted struct {
		ID     string
		Name   string
		Intent Intent
		Agreed bool // the approver was shown this very call, and allowed it
	}

	// Output is a piece of a running call's output or, as a Stage, a progress message, which the
	// next Output replaces.
	Output struct {
		ID, Delta string
		Stage     bool
	}

	// CallFinished says that a call is over. Err is what the model was told
	// if the call was refused, denied, cancelled or failed.
	CallFinished struct {
		ID            string
		Name          string
		Server        string         // the MCP server of the tool, empty if it has none
		Args          map[string]any // with which the call ran; as the model gave them if it never ran
		Intent        Intent         // empty if the call was never prepared
		Result        Result
		Err           error
		Took          time.Duration // 0 if it never ran
		Asked         bool          // the approver was asked
		UnaskedAdvice string        // nobody could be asked; the setting that would have allowed it
	}

	// AnswerFinished says that the answer shown since the last RequestStarted is in the history and
	// the journal. If a cancellation cuts an answer short, the part that has arrived counts; a
	// failed answer does not count.
	AnswerFinished struct{}

	// Citations lists the sources of the answer, as reported by the model's server.
	Citations struct{ References []Reference }

	// Usage counts the tokens of an answered request, or of a failed request beside the
	// conversation.
	Usage struct {
		Model                                            string // the model that answered
		RequestedModel                                   string // the model that was asked
		Role                                             string // as in [Request]
		Prompt, Output, Cached, Thoughts, ToolUse, Total int
		Took                                             time.Duration
		Err                                              error // why there was no answer; else nil
	}

	// Retry says that a request failed and is made again after Delay.
	Retry struct {
		Attempt     int // the number of the failed attempt, from 1
		MaxAttempts int // the maximum number of attempts
		Delay       time.Duration
		Err         error
		Restart     bool   // text shown since the last RequestStarted no longer counts
		Resumed     bool   // the answer resumes where it stopped; after a Restart, behind the text that is shown again
		Model       string // the model asked instead, "" if it is the same
		Price       string // the price of Model as the end of a sentence, if Model is dearer
	}

	// AnswerContinued says that another request continues an answer. It never leaves the engine,
	// which adds up the tokens of the requests.
	AnswerContinued struct{}

	// Notice is a message of the engine to the user.
	Notice struct {
		Text  string
		Cause error // identifies the Notice to programs, such as [ErrCut]; may be nil
		Info  bool  // nothing is wrong
	}

	// Recovery is the Cause of a Notice that an agent ended without a report and gets a second
	// request for it.
	Recovery struct{ Reason string }

	// CheckFinished says that a check of the work is over. The ID is that of its CallStarted.
	CheckFinished struct {
		ID      string
		Command string
		Round   int   // the number of the check for this prompt, from 1
		Code    int   // the exit code, as a shell has it: of a signal, 128 and its number
		Err     error // why the check failed, nil if it passed
		Took    time.Duration
	}

	// NestedEvent is an event of an agent's conversation inside a running call.
	NestedEvent struct {
		ID    string // of the call
		Agent string
		Event Event
	}
)

// Unnest returns the innermost event of ev, and the agents around it, the outermost first. For an
// event of the user's conversation, agents is "".
func Unnest(ev Event) (agents string, said Event) {
	for {
		n, ok := ev.(NestedEvent)
		if !ok {
			return agents, ev
		}
		if agents != "" {
			agents += " > "
		}
		agents, ev = agents+n.Agent, n.Event
	}
}

// NewUsage returns the Usage of a request to a model before its answer.
func NewUsage(asked string) Usage { return Usage{Model: asked, RequestedModel: asked} }

// Update takes over the model and the token counts from a piece of the answer, and reports
// whether the piece has counts. Negative counts become 0.
func (u *Usage) Update(chunk *genai.GenerateContentResponse) (counted bool) {
	u.Model = cmp.Or(strings.TrimPrefix(chunk.ModelVersion, "models/"), u.Model)
	m := chunk.UsageMetadata
	if m == nil {
		return false
	}
	n := func(count int32) int { return int(max(0, count)) }
	u.Prompt, u.Output, u.Cached = n(m.PromptTokenCount), n(m.CandidatesTokenCount), n(m.CachedContentTokenCount)
	u.Thoughts, u.ToolUse, u.Total = n(m.ThoughtsTokenCount), n(m.ToolUsePromptTokenCount), n(m.TotalTokenCount)
	return true
}

// plus returns u with the tokens of another request.
func (u Usage) plus(o Usage) Usage {
	if u.Total > 0 || o.Total > 0 {
		u.Total = u.Sum() + o.Sum()
	}
	u.Prompt, u.Output, u.Cached = u.Prompt+o.Prompt, u.Output+o.Output, u.Cached+o.Cached
	u.Thoughts, u.ToolUse = u.Thoughts+o.Thoughts, u.ToolUse+o.ToolUse
	return u
}

// Sum returns the total tokens of the request, even if the server sent no total.
func (u Usage) Sum() int {
	if u.Total > 0 {
		return u.Total
	}
	return u.Prompt + u.Output + u.Thoughts + u.ToolUse
}

// Error describes the recovery.
func (r Recovery) Error() string { return "asked for its report once more: " + r.Reason }

func (RequestStarted) event()   {}
func (Text) event()             {}
func (Thought) event()          {}
func (CallRequested) event()    {}
func (CallStateChanged) event() {}
func (CallStarted) event()      {}
func (Output) event()           {}
func (CallFinished) event()     {}
func (AnswerFinished) event()   {}
func (Usage) event()            {}
func (Retry) event()            {}
func (AnswerContinued) event()  {}
func (Notice) event()           {}
func (Citations) event()        {}
func (CheckFinished) event()    {}
func (NestedEvent) event()      {}

// A CallState is a stage in the life of a call.
type CallState string

// The states of a call, in order; the last three are final.
const (
	Validating       CallState = "validating"
	AwaitingApproval CallState = "awaiting_approval"
	Scheduled        CallState = "scheduled"
	Executing        CallState = "executing"
	Success          CallState = "success"
	Failed           CallState = "error"
	Cancelled        CallState = "cancelled"
)

// Outcome returns the final state of a call that ended with err.
func Outcome(err error) CallState {
	switch {
	case err == nil:
		return Success
	case errors.Is(err, ErrRefused), errors.Is(err, context.Canceled):
		return Cancelled
	default:
		return Failed
	}
}
