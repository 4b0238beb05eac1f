package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/parallel"
)

// The default limits of retries.
const (
	maxAttempts = 10              // for a request that gets no answer
	maxAnswers  = 4               // for an answer that is invalid or breaks off
	firstDelay  = 5 * time.Second // doubles with every attempt
	growth      = 6               // the longest delay is that many times the first

	firstJitter = 200 * time.Millisecond // maximum addition to a delay that the server names; doubles, too
	lastJitter  = time.Second
)

// RetryOptions are the settings of a [Retry] generator.
type RetryOptions struct {
	// Attempts is the maximum number of attempts without an answer: 10 if it is 0 or above 10.
	Attempts int

	// Delay is the delay after the first attempt without an answer, 5 seconds if 0. It doubles
	// with each attempt, up to six times the first delay.
	Delay time.Duration

	// Budget is the maximum sum of delays for a request; 0 is no limit.
	Budget time.Duration
}

// Retry returns a Generator that repeats requests to g if that may help: if the server can't be
// reached or is overloaded, or if an answer breaks off, or has no text and no calls.
//
// It reports every further attempt by an [engine.Retry] before it waits. The chunks of an attempt
// are yielded at once; if the attempt then fails, the report has Restart set. If the server can
// continue the answer, the answer continues after the server's last continuation token, without
// repeated text.
func Retry(g engine.Generator, o RetryOptions) engine.Generator {
	if o.Attempts <= 0 || o.Attempts > maxAttempts {
		o.Attempts = maxAttempts
	}
	return retry{Generator: g, opts: o}
}

type retry struct {
	engine.Generator
	opts RetryOptions
}

// errLeft unwinds a generator whose consumer has left the loop.
var errLeft = errors.New("the consumer has left")

// Generate implements [engine.Generator].
func (r retry) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return Chunks(ctx, func(emit func(*genai.GenerateContentResponse) error) error { return r.generate(ctx, req, emit) })
}

func (r retry) generate(ctx context.Context, req *engine.Request, emit func(*genai.GenerateContentResponse) error) error {
	t := try{asked: *req, answer: answer{afterSuccess: succeeded(req.Contents)}, emit: emit}
	plan := plan{opts: r.opts, attempts: 1, answers: 1}
	for {
		err := r.attempt(ctx, &t)
		switch {
		case err == nil, err == errLeft, ctx.Err() != nil:
			return err
		case err == errEmptyAnswer:
			return r.close(ctx, req, emit)
		case err == errContinues:
			plan.begin()
			t.goOn()
			continue
		}
		var e *Error
		if !errors.As(err, &e) {
			return err // an error of the program would repeat
		}
		if t.said.advanced() {
			plan.begin()
		}
		again, ok := plan.next(ctx, t.refused(e), t.answer.chunks > 0)
		if !ok {
			return plan.given(e)
		}
		again.Resumed = t.said.token != nil
		again.Restart = t.shown() && (!again.Resumed || hasParts(t.said.loose))
		if req.Notify != nil {
			req.Notify(again)
		}
		if err := parallel.Sleep(ctx, again.Delay); err != nil {
			return err
		}
		if err := t.again(req, e, again.Restart); err != nil {
			return err
		}
	}
}

// A try is a request with its answer so far.
type try struct {
	asked  engine.Request
	answer answer
	said   continued
	emit   func(*genai.GenerateContentResponse) error
}

// shown reports whether a part of the answer was yielded.
func (t *try) shown() bool { return len(t.said.chunks)+len(t.said.loose) > 0 }

// observe processes a chunk and emits it.
func (t *try) observe(chunk *genai.GenerateContentResponse) error {
	if err := t.answer.observe(chunk); err != nil {
		return err
	}
	t.said.take(chunk)
	return t.emit(chunk)
}

// refused returns e. If the server refused the answer's continuation token, it drops the token
// and marks e as retryable.
func (t *try) refused(e *Error) *Error {
	if e.Kind != BadRequest || t.said.token == nil || t.answer.chunks > 0 {
		return e
	}
	t.said.token = nil
	anew := *e
	anew.Final = false
	return &anew
}

// goOn changes t to the request that continues the answer.
func (t *try) goOn() {
	t.said.next(&t.asked)
	t.answer.chunks, t.answer.finish, t.answer.why = 0, "", ""
	t.border()
}

// border marks the beginning of another request's chunks.
func (t *try) border() {
	if t.asked.Notify != nil {
		t.asked.Notify(engine.AnswerContinued{})
	}
}

// again prepares t for the request after e: a continuation of the answer if the server gave a
// token, else req for a new answer.
func (t *try) again(req *engine.Request, e *Error, restart bool) error {
	anew := answer{afterSuccess: t.answer.afterSuccess}
	if t.said.token == nil {
		if e.Answering || t.answer.chunks > 0 {
			t.asked.Contents, t.asked.Again = withHint(req.Contents, e.Code), true
		}
		t.asked.Config, t.answer, t.said = req.Config, anew, continued{}
		return nil
	}
	if restart {
		t.answer = anew
		err := t.said.replay(func(chunk *genai.GenerateContentResponse) error {
			t.answer.observe(chunk)
			return t.emit(chunk)
		}, t.border)
		if err != nil {
			return err
		}
	}
	t.goOn()
	return nil
}

// close asks a model for a closing sentence after an empty answer to successful calls. The work
// is done, so a failure is only a warning. Only a complete text counts.
func (r retry) close(ctx context.Context, req *engine.Request, emit func(*genai.GenerateContentResponse) error) error {
	notify := req.Notify
	if notify == nil {
		notify = func(engine.Event) {}
	}
	err := error(errEmptyAnswer)
	if r.opts.Attempts > 1 {
		notify(engine.Retry{Attempt: 1, MaxAttempts: 2, Err: err, Restart: true})
		var said []*genai.GenerateContentResponse
		asked := *req
		asked.Contents = appendNote(req.Contents, closingNote)
		err = r.attempt(ctx, &try{asked: asked, answer: answer{afterSuccess: true},
			emit: func(chunk *genai.GenerateContentResponse) error {
				said = append(said, chunk)
				return nil
			}})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, chunk := range said {
			if err != nil {
				break
			}
			if left := emit(chunk); left != nil {
				return left
			}
		}
	}
	switch {
	case err == errEmptyAnswer:
		notify(engine.Notice{Text: errEmptyAnswer.Error() + ", which were carried out"})
	case err != nil:
		notify(engine.Notice{Text: fmt.Sprintf("%v, which were carried out; asking for a closing sentence failed: %v", errEmptyAnswer, err)})
	}
	return nil
}

// attempt makes one request and checks its answer.
func (r retry) attempt(ctx context.Context, t *try) error {
	for chunk, err := range r.Generator.Generate(ctx, &t.asked) {
		if err != nil {
			return err
		}
		if err := t.observe(chunk); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return cmp.Or(t.said.end(t.answer.finish), t.answer.check())
}

// A plan decides on further attempts.
type plan struct {
	opts     RetryOptions
	attempts int // attempts since the last answer
	hints    int // failed attempts with a delay named by the server
	answers  int // begun answers, including the current answer
	total    int
	waited   time.Duration
}

// begin resets the counts after progress of the answer.
func (p *plan) begin() { p.attempts, p.hints, p.answers = 1, 0, 1 }

// next returns the attempt to make after e, if there is one.
func (p *plan) next(ctx context.Context, e *Error, heard bool) (engine.Retry, bool) {
	p.total++
	if e.Final {
		return engine.Retry{}, false
	}
	again := engine.Retry{Err: e}
	if e.Answering || heard {
		again.Attempt, again.MaxAttempts = p.answers, min(maxAnswers, p.opts.Attempts)
		again.Delay = time.Second << (p.answers - 1)
		if e.Hinted {
			again.Delay = hinted(p.answers, e.RetryAfter)
		}
		p.answers++
		p.attempts, p.hints = 1, 0
	} else {
		again.Attempt, again.MaxAttempts = p.attempts, p.opts.Attempts
		if again.Delay = p.opts.backoff(p.attempts); e.Hinted {
			p.hints++
			again.Delay = hinted(p.attempts, e.RetryAfter)
			if p.hints > believed {
				again.Delay = max(again.Delay, p.opts.backoff(p.hints-believed))
			}
		}
		if e.Code == CodeNobody { // a retry helps only if the server is starting
			again.MaxAttempts, again.Delay = min(3, p.opts.Attempts), 2*time.Second
		}
		p.attempts++
	}
	p.waited += again.Delay
	if again.Attempt >= again.MaxAttempts || p.opts.Budget > 0 && p.waited > p.opts.Budget {
		return again, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= again.Delay {
		return again, false // the error is more useful than a timeout
	}
	return again, true
}

// given returns e in the form for the user after the last attempt.
func (p *plan) given(e *Error) *Error {
	if p.total < 2 {
		return e
	}
	last := *e
	last.Message += fmt.Sprintf(" (after %d attempts)", p.total)
	return &last
}

// backoff returns the delay after the given attempt, if the server names none.
func (o RetryOptions) backoff(attempt int) time.Duration {
	first := cmp.Or(o.Delay, firstDelay)
	d := min(first<<min(attempt-1, 10), growth*first)
	return d + time.Duration(float64(d)*0.3*(2*rand.Float64()-1))
}

// believed is how many delays that the server names are used. An overloaded server may name
// milliseconds each time, which would use up all attempts within seconds.
const believed = 3

// hinted returns the delay after the given attempt, if the server names a delay. The result is at
// least that, plus a little jitter, so that not all clients retry at the same moment.
func hinted(attempt int, asked time.Duration) time.Duration {
	jitter := max(asked/5, min(firstJitter<<min(attempt-1, 10), lastJitter))
	return asked + rand.N(jitter)
}
