package hook

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

// mostReturns is how often the hooks of a prompt may send the agent back to work. It is the
// Gemini CLI's limit for turns without user input.
const mostReturns = 10

// An end is the error of a request or an answer that a hook has blocked.
type end struct {
	stopped bool // the run is stopped, and not only this request blocked
	why     string
}

func (e *end) Error() string {
	if e.stopped {
		return "Agent execution stopped: " + e.why
	}
	return "Agent execution blocked: " + e.why
}

// Run returns a Run around run: hooks see each prompt before it is sent, and each answer before
// the prompt ends. Messages of hooks are yielded among the events.
func (h *Hooks) Run(run engine.Run) engine.Run {
	if h == nil || len(h.cfg.Hooks) == 0 {
		return run
	}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		p := prompt{hooks: h, run: run, yield: yield}
		h.stopped.Store(nil)
		err := p.say(ctx, parts)
		var e *end
		if errors.As(err, &e) {
			h.notices.warn("%v", e)
			err = nil
		}
		if p.tell() && err != nil {
			yield(nil, err)
		}
	})
}

// Hint runs the hooks of a prompt on a hint that the user gives while the model works. It returns
// the text that the hooks add for the model, and whether the model gets the hint.
func (h *Hooks) Hint(ctx context.Context, text string) (more string, ok bool) {
	a := h.fire(ctx, BeforeAgent, "", fields{{"prompt", text}})
	if a.Stop {
		h.stopped.Store(&end{stopped: true, why: a.Why()})
	} else if a.Decision == block {
		h.notices.warn("the model is not told: %s", a.Why())
	}
	return a.context(), !a.Stop && a.Decision != block
}

// ending returns the error of a run that a hook has stopped, nil if no hook has.
func (h *Hooks) ending() error {
	if e := h.stopped.Load(); e != nil {
		return e
	}
	return nil
}

// A prompt is a message of the user that is being answered.
type prompt struct {
	hooks        *Hooks
	run          engine.Run
	yield        func(engine.Event, error) bool
	consumerGone bool // the consumer has left
	text         string
	said         reply
}

// tell yields the hooks' notices, and reports whether the consumer continues.
func (p *prompt) tell() bool {
	for _, n := range p.hooks.Notices() {
		p.consumerGone = p.consumerGone || !p.yield(n, nil)
	}
	return !p.consumerGone
}

// say sends parts to the model, and then the hooks' replies to the answer. The caller yields its
// error.
func (p *prompt) say(ctx context.Context, parts []*genai.Part) error {
	p.text = engine.TextOf(parts)
	parts, err := p.before(ctx, parts)
	if err != nil {
		return err
	}
	for returns := 0; ; returns++ {
		if err := p.ask(ctx, parts); err != nil || p.consumerGone {
			return err
		}
		after := p.hooks.fire(ctx, AfterAgent, "", fields{{"prompt", p.text}, {"prompt_response", p.said.text()},
			{"stop_hook_active", returns > 0}})
		if after.Specific["clearContext"] == true && (after.Stop || after.Decision == block) && p.hooks.cfg.Clear != nil {
			if err := p.hooks.cfg.Clear(); err != nil {
				return err
			}
			p.hooks.notices.warn("hooks have the conversation begin anew: the earlier conversation is forgotten")
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case after.Stop:
			return &end{stopped: true, why: after.Why()}
		case after.Decision != block:
			return nil
		case returns == mostReturns:
			p.hooks.notices.warn("hooks have sent the agent back %d times; the answer stays as it is", mostReturns)
			return nil
		}
		p.hooks.notices.warn("Agent execution blocked: %s", after.Why())
		parts = []*genai.Part{{Text: engine.MidTurnNote(after.Why())}} // which is not from the user
		if !p.tell() {
			return nil
		}
	}
}

// before returns the parts to send in place of the user's parts. It is not called for messages of
// hooks that send the agent back to work.
func (p *prompt) before(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
	a := p.hooks.fire(ctx, BeforeAgent, "", fields{{"prompt", p.text}})
	if a.Stop && p.hooks.cfg.Add != nil {
		if err := p.hooks.cfg.Add(ctx, parts...); err != nil {
			return nil, err
		}
	}
	if a.Stop || a.Decision == block {
		return nil, &end{stopped: a.Stop, why: a.Why()}
	}
	if more := a.context(); more != "" {
		parts = append(parts[:len(parts):len(parts)], &genai.Part{Text: more})
	}
	return parts, nil
}

// ask sends one message and yields the events that follow.
func (p *prompt) ask(ctx context.Context, parts []*genai.Part) error {
	if !p.tell() {
		return nil
	}
	for ev, err := range p.run(ctx, parts...) {
		if !p.tell() {
			return nil
		}
		if end := p.hooks.ending(); err != nil && end != nil {
			return end
		}
		if err != nil {
			return err
		}
		p.said.observe(ev)
		if !p.yield(ev, nil) {
			p.consumerGone = true
			return nil
		}
	}
	return p.hooks.ending()
}

// A reply collects the text of the answers to a prompt.
type reply struct {
	counted []string
	current strings.Builder
}

// observe processes an event.
func (r *reply) observe(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.RequestStarted:
		r.current.Reset()
	case engine.Text:
		r.current.WriteString(ev.Delta)
	case engine.Retry:
		if ev.Restart {
			r.current.Reset()
		}
	case engine.AnswerFinished:
		if r.current.Len() > 0 {
			r.counted = append(r.counted, r.current.String())
		}
		r.current.Reset()
	}
}

func (r *reply) text() string {
	if len(r.counted) == 0 {
		return "[no response text]"
	}
	return strings.Join(r.counted, "\n")
}
