package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/genai"
)

// MaxParallel is how many calls run at once, at most.
const MaxParallel = 10

// A job is a function call of the model, from the request to its answer.
type job struct {
	fc      *genai.FunctionCall
	tool    Tool
	call    *Call // nil until allowed
	intent  Intent
	asked   bool
	agreed  bool // to the call that runs
	unasked string
	aside   bool   // it is outside the conversation
	note    string // for the model, about arguments that were dropped
	result  Result
	err     error
	at      time.Time // when it was over, zero until then

	answer, injected []*genai.Part // for the model, once the call is over
}

// newJob returns the job of a call. The arguments are fitted to the tool first, so that the
// call is judged and shown with the arguments of its run.
func newJob(tools []Tool, fc *genai.FunctionCall) *job {
	j := &job{fc: fc, tool: find(tools, fc.Name)}
	fc.Args, j.note = j.tool.Fitted(fc.Args)
	j.tool = j.tool.Of(fc.Args)
	return j
}

// act carries out the calls of one message and puts their answers into the history, in the order
// of the calls. Every call gets an answer, even if act fails.
//
// Neighbouring read-only calls run side by side. Every other call is prepared
// only when the calls before it are over, since it may depend on them.
func (e *Engine) act(ctx context.Context, fcs []*genai.FunctionCall, emit emitFunc) error {
	tools := e.cfg.Tools.Tools()
	jobs := make([]*job, len(fcs))
	for i, fc := range fcs {
		jobs[i] = newJob(tools, fc)
	}
	err := e.work(ctx, tools, jobs, emit)
	for _, j := range jobs {
		if j.at.IsZero() { // never reached
			j.err = cancelled(err, "Operation cancelled by user")
			err = cmp.Or(err, e.finish(j, emit, 0))
		}
	}
	return cmp.Or(err, e.answer(jobs, emit))
}

// RunCall judges and carries out one call outside the conversation, such as a
// command that the user put into a prompt, and shows it by emit.
func (e *Engine) RunCall(ctx context.Context, name string, args map[string]any, emit func(Event) error) (Result, error) {
	tools := e.cfg.Tools.Tools()
	fc := &genai.FunctionCall{Name: name, Args: args}
	e.identify(fc)
	j := newJob(tools, fc)
	j.aside = true
	if err := e.work(ctx, tools, []*job{j}, emit); err != nil {
		return j.result, err
	}
	return j.result, j.err
}

func (e *Engine) work(ctx context.Context, tools []Tool, jobs []*job, emit emitFunc) error {
	for _, j := range jobs {
		if err := emit(CallRequested{ID: CallID(j.fc), Name: j.fc.Name, Args: j.fc.Args}); err != nil {
			return err
		}
	}
	for group := range neighbours(jobs) {
		for _, j := range group {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.judge(ctx, tools, j, emit); err != nil {
				return err
			}
		}
		if err := e.run(ctx, group, emit); err != nil {
			return err
		}
	}
	return nil
}

// neighbours splits jobs into groups of neighbours that may run side by side, and single jobs.
func neighbours(jobs []*job) iter.Seq[[]*job] {
	return func(yield func([]*job) bool) {
		for len(jobs) > 0 {
			n := 1
			for n < len(jobs) && jobs[n-1].parallel() && jobs[n].parallel() {
				n++
			}
			if !yield(jobs[:n]) {
				return
			}
			jobs = jobs[n:]
		}
	}
}

// parallel reports whether j may run beside its neighbours: its tool changes
// nothing that a later call could see, and the model did not ask that it wait.
func (j *job) parallel() bool {
	return j.tool.Kind.ReadOnly() && (j.tool.Kind != Think || j.tool.Parallel) && fmt.Sprint(j.fc.Args["wait_for_previous"]) != "true"
}

// judge prepares j and decides whether it may run. An error of the call itself is stored in
// j.err, for the model; a returned error ends the Run.
func (e *Engine) judge(ctx context.Context, tools []Tool, j *job, emit emitFunc) error {
	id := CallID(j.fc)
	state := func(s CallState) error { return emit(CallStateChanged{ID: id, Name: j.fc.Name, State: s}) }
	if err := state(Validating); err != nil {
		return err
	}
	if j.tool.Prepare == nil {
		j.err = notFound(tools, j.fc.Name)
		return nil
	}
	settled, err := Authorize(ctx, Proposal{ID: id, Tool: j.tool, Args: j.fc.Args}, e.cfg.Policy,
		e.cfg.Approver, func() error {
			j.asked = true
			return state(AwaitingApproval)
		})
	if err != nil {
		return err
	}
	j.intent, j.agreed, j.err = settled.Intent, settled.Agreed, settled.Err
	if advice := settled.unasked; advice != "" {
		j.asked, j.unasked = false, advice
	}
	if j.err != nil {
		return nil
	}
	j.call = &settled.Call
	j.fc.Args = settled.Args // the call runs with the arguments in the record
	return state(Scheduled)
}

// An Authorized is a call with the decision on it.
type Authorized struct {
	Call
	Args    map[string]any // of the run
	Err     error          // why it does not run, for the model; nil if it may
	Agreed  bool           // the approver was shown the call as it runs, and allowed it
	unasked string         // advice on how to allow the call, if nobody could be asked
}

// Authorize prepares the call that p proposes, has policy judge it, and asks approver if policy
// leaves the verdict open. It calls waiting before it asks. A returned error ends the Run; an
// error of the call itself is in the Authorized.
func Authorize(ctx context.Context, p Proposal, policy Policy, approver Approver,
	waiting func() error) (s Authorized, err error) {
	agreed := false
	for {
		p.Args, _ = p.Tool.Fitted(p.Args)
		call, err := p.Tool.Prepare(ctx, p.Args)
		if err != nil {
			s.Intent.Title, s.Err = cmp.Or(call.Intent.Title, s.Intent.Title), err
			if !policy.Offers(p.Tool) { // better arguments would not help
				if verdict, reason := policy.Judge(ctx, p); verdict == Deny {
					s.Err = denial(reason)
				}
			}
			return s, ctx.Err()
		}
		if call.Args != nil {
			agreed = agreed && reflect.DeepEqual(call.Args, p.Args) // to these arguments, and no others
			p.Args = call.Args
		}
		s.Call, s.Args, p.Intent, p.Tool = call, p.Args, call.Intent, p.Tool.Of(p.Args)
		verdict, reason := policy.Judge(ctx, p)
		if verdict == Deny {
			s.Err = denial(reason)
			return s, nil
		}
		if verdict == Allow || agreed || call.Idle {
			return s, nil
		}
		if err := waiting(); err != nil {
			return s, err
		}
		p.Intent.Questions = nil // the approver decides on the call; its questions are asked when it runs
		answer, err := approver.Approve(ctx, p)
		if err != nil {
			return s, err
		}
		switch a := answer.(type) {
		case Changed:
			p.Args, agreed = a.Args, a.Agreed
		case Allowed:
			if s.Agreed = true; a.Scope != Once {
				err = policy.Learn(a.Grant, a.Scope)
			}
			return s, err
		default:
			s.Err = Refusal(p.Tool, answer)
			if a, ok := answer.(Unasked); ok {
				s.unasked = a.Advice
			}
			return s, nil
		}
	}
}

// denial returns the error that tells the model that a rule denies a call.
func denial(reason Reason) error {
	return &CallError{Type: PolicyViolation, Message: "Tool execution denied by policy. " + reason.Text,
		Display: "denied: " + reason.Text, Rule: reason.Rule}
}

// Refusal returns the error that tells the model of a refusal, nil if answer allows the call.
func Refusal(t Tool, answer Answer) error {
	switch a := answer.(type) {
	case Allowed:
		return nil
	case Unasked:
		return &CallError{Type: NeedsConfirmation, Advice: a.Advice,
			Message: fmt.Sprintf("Tool execution for %q requires user confirmation, which is not supported in non-interactive mode; %s", cmp.Or(t.Label, t.Name()), a.Advice),
			Display: "denied: nobody to ask; " + a.Advice}
	case Refused:
		return refusal{note: a.Note}
	}
	return refusal{}
}

// run runs jobs side by side and returns when all are over. Jobs without a
// call are only reported.
func (e *Engine) run(ctx context.Context, jobs []*job, emit emitFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &eventLoop{notes: make(chan func()), approver: e.cfg.Approver, emit: emit, cancel: cancel}
	d.finish = func(j *job, took time.Duration) error { return e.finish(j, emit, took) }
	var wg sync.WaitGroup
	slots := make(chan struct{}, MaxParallel)
	wg.Go(func() {
		for _, j := range jobs {
			slots <- struct{}{}
			wg.Go(func() { j.run(ctx, d); <-slots })
		}
	})
	go func() { wg.Wait(); close(d.notes) }()
	for note := range d.notes {
		note()
	}
	if d.panic != nil {
		panic(d.panic)
	}
	return cmp.Or(d.err, ctx.Err())
}

func (j *job) run(ctx context.Context, d *eventLoop) {
	defer func() {
		if v := recover(); v != nil {
			d.panicked(fmt.Sprintf("%s: %v\n%s", j.fc.Name, v, debug.Stack()))
		}
	}()
	start := time.Now()
	if j.call != nil && ctx.Err() == nil {
		h := host{eventLoop: d, id: CallID(j.fc)}
		h.Emit(CallStateChanged{ID: h.id, Name: j.fc.Name, State: Executing})
		h.Emit(CallStarted{ID: h.id, Name: j.fc.Name, Intent: j.intent, Agreed: j.agreed})
		j.result, j.err = j.call.Run(ctx, h)
		if j.err != nil && ctx.Err() != nil {
			j.err = &cancellation{why: "[Operation Cancelled] User cancelled tool execution.", cause: ctx.Err()}
		}
	} else if j.call != nil {
		j.err = cancelled(ctx.Err(), "Operation cancelled by user")
	}
	d.finished(j, time.Since(start))
}

// finish records how j ended, and then reports it.
func (e *Engine) finish(j *job, emit emitFunc, took time.Duration) error {
	j.at = time.Now()
	if j.call == nil {
		took = 0
	}
	j.answer, j.injected = response(j.fc, j.result, j.err, e.cfg.Model)
	j.addNote()
	if err := e.recordResult(j, emit); err != nil {
		return err
	}
	id := CallID(j.fc)
	if err := emit(CallStateChanged{ID: id, Name: j.fc.Name, State: Outcome(j.err)}); err != nil {
		return err
	}
	return emit(CallFinished{ID: id, Name: j.fc.Name, Server: j.tool.Server, Args: j.fc.Args, Intent: j.intent, Result: j.result, Err: j.err,
		Took: took, Asked: j.asked, UnaskedAdvice: j.unasked})
}

// An eventLoop carries the events and questions of jobs that run side by side to the one
// goroutine that may show and ask, which reads notes.
type eventLoop struct {
	notes    chan func()
	approver Approver
	emit     emitFunc
	finish   func(j *job, took time.Duration) error
	cancel   context.CancelFunc

	// Used only by the goroutine that reads notes.
	err   error // first failure
	panic any   // what a tool panicked with
}

// do has the goroutine that reads notes call f, unless something failed before.
func (d *eventLoop) do(f func() error) {
	d.notes <- func() {
		if d.err != nil {
			return
		}
		if d.err = f(); d.err != nil {
			d.cancel()
		}
	}
}

// finished has the goroutine that reads notes finish j, even if another job failed.
func (d *eventLoop) finished(j *job, took time.Duration) {
	d.notes <- func() {
		if err := d.finish(j, took); d.err == nil && err != nil {
			d.err = err
			d.cancel()
		}
	}
}

// panicked has the goroutine that reads notes panic with v once all jobs are over, so that the
// consumer of the Run can recover.
func (d *eventLoop) panicked(v any) {
	d.notes <- func() {
		d.panic = v
		d.err = errors.New("a tool panicked")
		d.cancel()
	}
}

// A host offers the event loop to one call.
type host struct {
	*eventLoop
	id string
}

// Emit implements [Host].
func (h host) Emit(ev Event) {
	switch e := ev.(type) {
	case Output:
		e.ID = cmp.Or(e.ID, h.id)
		ev = e
	case NestedEvent:
		e.ID = cmp.Or(e.ID, h.id)
		ev = e
	}
	h.do(func() error { return h.emit(ev) })
}

// Approve implements [Host]. An error ends all jobs, as it ends the Run.
func (h host) Approve(ctx context.Context, p Proposal) (answer Answer, err error) {
	p.ID = cmp.Or(p.ID, h.id)
	if p.Agent != "" { // an agent that calls an agent is asked for in the outer call's name
		p.AgentCall = h.id
	}
	done := make(chan struct{})
	h.notes <- func() {
		defer close(done)
		if err = h.err; err != nil {
			return
		}
		if answer, err = h.approver.Approve(ctx, p); err != nil {
			h.err = err
			h.cancel()
		}
	}
	<-done
	return answer, err
}
