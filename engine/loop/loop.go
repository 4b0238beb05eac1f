package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/oneshot"
)

// Config is what a [Guard] needs from the world.
type Config struct {
	// Approver is asked whether the conversation continues if advice has not helped. Nil ends the
	// Run.
	Approver engine.Approver

	// Asker, if not nil, judges long turns, and History returns the
	// conversation.
	Asker   *oneshot.Asker
	History func() []*genai.Content

	// Resume, if not nil, returns the command that resumes the session, or "" if there is none.
	Resume func() string
}

// A Guard watches one conversation. It must not be used concurrently.
type Guard struct {
	cfg              Config
	off              bool // the user disabled the detection
	failedJudgements int  // failed judgements since the last answer
}

// New returns a Guard.
func New(cfg Config) *Guard { return &Guard{cfg: cfg} }

// An Error is the error of a Run that was ended because of a loop.
type Error struct {
	What   string // the repeated calls or text, on a line or two
	Advice string // how to continue, on one line

	detail string                // for the model
	call   *engine.CallRequested // the call that would continue the loop, nil if none
	text   bool                  // an answer repeats itself
}

// Error returns what repeats.
func (e *Error) Error() string { return "stopped: the model goes in circles: " + e.What }

// Hint says how to continue.
func (e *Error) Hint() string { return e.Advice }

// Run returns a Run for one prompt, which yields the events of run, and sends advice to the model
// in a loop. If a loop ends the Run, its error is an [*Error]. Further calls of the Run, to
// repair an answer, continue the counts. A nil Guard returns run.
func (g *Guard) Run(run engine.Run) engine.Run {
	if g == nil {
		return run
	}
	p := prompt{Guard: g, run: run}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		p.yield, p.consumerGone = yield, false
		p.prompt = cmp.Or(p.prompt, engine.TextOf(parts))
		for parts != nil && !p.consumerGone {
			var err error
			if parts, err = p.say(ctx, parts); err != nil && !p.consumerGone {
				yield(nil, err)
				return
			}
		}
	})
}

// A prompt is a message of the user, until it is answered.
type prompt struct {
	*Guard
	run          engine.Run
	yield        func(engine.Event, error) bool
	consumerGone bool   // the consumer has left
	prompt       string // what the user has said

	requests  int
	judgeAt   int // the request before which the next judgement is due
	calls     calls
	said      repetition
	openCalls []engine.CallRequested // calls of the last message that are not over
	begun     bool                   // a call of the last message has begun, so that later requests are from hooks
	advised   bool
}

// say sends parts to the model. It returns the next parts to send, nil if none.
func (p *prompt) say(ctx context.Context, parts []*genai.Part) (next []*genai.Part, err error) {
	var stop *Error
	first := !p.advised
	for ev, rerr := range p.run(ctx, parts...) {
		if rerr != nil {
			return nil, rerr
		}
		why := p.watch(ctx, ev)
		_, said := ev.(engine.Text) // which the history has by now
		if said && !p.tell(ev) {
			return nil, nil
		}
		if why != nil {
			var goOn bool
			if next, goOn, err = p.decide(ctx, why); !goOn {
				stop = why
				break // the engine closes the history
			}
		}
		if !said && !p.tell(ev) {
			return nil, nil
		}
	}
	if stop == nil || p.consumerGone {
		return nil, err
	}
	p.leave(stop)
	if first {
		p.tell(engine.Notice{Text: "the model goes in circles, and gets a warning: " + stop.What})
	}
	return next, err
}

// watch observes an event. It returns the loop, nil if none.
func (p *prompt) watch(ctx context.Context, ev engine.Event) *Error {
	switch ev := ev.(type) {
	case engine.RequestStarted:
		p.openCalls, p.begun = nil, false
		p.said = repetition{}
		return p.judge(ctx)
	case engine.Retry:
		if ev.Restart {
			p.said = repetition{}
		}
	case engine.Text:
		if !p.off {
			return p.said.add(ev.Delta)
		}
	case engine.CallRequested:
		if !p.begun {
			p.openCalls = append(p.openCalls, ev)
		}
		p.said = repetition{}
	case engine.CallStateChanged:
		i := p.index(ev.ID)
		if ev.State != engine.Validating || i < 0 {
			return nil
		}
		if p.begun = true; p.off {
			return nil
		}
		return p.calls.begin(p.openCalls[i])
	case engine.CallFinished:
		p.calls.end(ev)
		if i := p.index(ev.ID); i >= 0 {
			p.openCalls = slices.Delete(p.openCalls, i, i+1)
		}
	}
	return nil
}

// index returns the place of a call among the open calls, or -1.
func (p *prompt) index(id string) int {
	return slices.IndexFunc(p.openCalls, func(c engine.CallRequested) bool { return c.ID == id })
}

// advice tells the model of a loop.
const advice = "System: Potential loop detected. Details: %s. Look at what the last steps have changed. " +
	"Do not repeat them as they were: find another way, or say what keeps you from going on."

// decide returns the reaction to a loop: the next message, or goOn if the Run continues, or the
// error that ends it.
func (p *prompt) decide(ctx context.Context, why *Error) (next []*genai.Part, goOn bool, err error) {
	if !p.advised {
		p.advised = true
		return []*genai.Part{{Text: engine.MidTurnNote(fmt.Sprintf(advice, why.detail))}}, false, nil
	}
	stop := *why
	stop.Advice = "--no-loop-check lets it go on"
	switch {
	case p.cfg.Approver != nil:
		stop.Advice = "say what to do instead; --no-loop-check does not look for loops"
	case p.cfg.Resume != nil && p.cfg.Resume() != "":
		stop.Advice = p.cfg.Resume() + " goes on, and --no-loop-check does not look for loops"
	}
	if p.cfg.Approver == nil {
		return nil, false, &stop
	}
	if !p.tell(engine.Notice{Text: "the model goes in circles: " + why.What}) {
		return nil, false, nil
	}
	answer, err := p.cfg.Approver.Approve(ctx, question(why))
	if err != nil {
		return nil, false, err
	}
	switch a := answer.(type) {
	case engine.Allowed:
		p.off = a.Scope != engine.Once
		p.calls = nil
		p.said.forget()
		if why.call != nil {
			p.calls.begin(*why.call)
		}
		return nil, true, nil
	case engine.Refused:
		if a.Note != "" {
			p.advised = false
			p.calls = nil
			return []*genai.Part{{Text: a.Note}}, false, nil
		}
	}
	return nil, false, &stop
}

// question asks whether the conversation continues.
func question(why *Error) engine.Proposal {
	q := engine.Proposal{ID: "loop", Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "loop"}}}
	q.Intent.Title = "go on all the same?"
	q.Intent.Yes = "it goes on; you are asked again after as many rounds"
	q.Intent.No = "the turn ends; words behind n are what the model is told instead"
	q.Intent.Grants = []engine.Grant{{Label: "go on, and never ask this session", Tool: "loop"}}
	if c := why.call; c != nil {
		q.ID, q.Tool.Declaration.Name, q.Args = c.ID, c.Name, c.Args
	}
	return q
}

// leave yields the events of a Run that is left: its unfinished calls or its partial answer.
func (p *prompt) leave(why *Error) {
	if why.text { // in the middle of an answer; the history keeps its text so far
		p.tell(engine.AnswerFinished{})
		return
	}
	p.consumerGone = p.consumerGone || !engine.NotRun(p.openCalls, "not run: it would go on with a loop", p.yield)
	p.openCalls = nil
}

// tell yields an event, and reports whether the consumer continues.
func (p *prompt) tell(ev engine.Event) bool {
	p.consumerGone = p.consumerGone || !p.yield(ev, nil)
	return !p.consumerGone
}
