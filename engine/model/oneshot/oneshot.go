// Package oneshot asks models questions beside a conversation: whether to go on, what
// a page says, what a long history comes to.
//
// The caller names the purpose of a question, and the table of presets says which model
// is asked, with which settings, and for how long the answer is worth waiting.
//
// # Never in the way
//
// A question has a bound, by its purpose, for all attempts together: at the end of it
// the caller has an error and goes on without an answer. Delays between attempts are
// shorter than those of a conversation.
//
// # No single model
//
// Where a model can't answer, the next one does that the table has for the purpose, beside
// a conversation with the model that it is. That holds for a model that the user names, too.
//
// # Nothing is shown
//
// Of an answer only the whole counts. Its tokens are reported as an [engine.Usage] with
// the role of the purpose; an attempt that failed, as one with its error and a notice.
package oneshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/preset"
)

const (
	maxAttempts = 5
	firstDelay  = time.Second // after an attempt that got no answer
)

// ErrEmpty is the cause of the error of an answer that says nothing.
var ErrEmpty = errors.New("the answer is empty")

// errNobody says that there is no model to ask.
var errNobody = errors.New("no model can be asked beside the conversation")

// An Asker asks questions. It is safe for concurrent use. The nil Asker has an error
// for each.
type Asker struct {
	// Generator answers. It makes a single attempt of each request.
	Generator engine.Generator

	// Presets says what each purpose is asked with.
	Presets *preset.Table

	// Model, if not nil, returns the model of the conversation, whose family is asked.
	Model func() string

	// Health, if not nil, knows which models can't answer.
	Health Health

	// Attempts is how often a question is asked at most: 5 times if it is 0 or more
	// than that, and never more often than its purpose is worth.
	Attempts int
}

// A Health knows which models can't answer. It is safe for concurrent use.
type Health interface {
	Down(model string) bool
	Missing(model string)  // notes that there is no such model
	News(text string) bool // reports whether users have not been told this yet, and notes it
}

// For returns an Asker beside a conversation with another model.
func (a *Asker) For(model func() string) *Asker {
	if a == nil {
		return nil
	}
	other := *a
	other.Model = model
	return &other
}

// A Question is asked beside the conversation.
type Question struct {
	Purpose  string // as [preset.Table.Purpose] knows it
	System   string // the instruction, may be empty
	Contents []*genai.Content

	// Once says that an answer that is empty or can't be read is not asked for again.
	Once bool

	// With, if not nil, changes what the purpose is asked with.
	With func(*genai.GenerateContentConfig)

	// Tell, if not nil, is told what the answer took and what went wrong on the
	// way. It is called on the goroutine that asks.
	Tell func(engine.Event)

	// Quiet has Tell be told what the answer took, and of models that are gone; of no other
	// failure.
	Quiet bool
}

// Text returns the text of the answer, which is not empty.
func (a *Asker) Text(ctx context.Context, q Question) (string, error) {
	c, err := a.Ask(ctx, q)
	if err != nil {
		return "", err
	}
	return AnswerText(c), nil
}

// JSON has the question answered with JSON that fits a schema, and reads the answer
// into a value. An answer that can't be read so is asked for again, unless the question is
// asked once.
func (a *Asker) JSON(ctx context.Context, q Question, schema, into any) error {
	var unread error
	_, err := a.ask(ctx, q, func(c *genai.GenerateContentConfig) {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", schema
	}, func(c *genai.Candidate) error {
		if unread = json.Unmarshal(unfenced(AnswerText(c)), into); q.Once {
			return nil
		}
		return unread
	})
	return cmp.Or(err, unread)
}

// Ask returns the answer, which says something.
func (a *Asker) Ask(ctx context.Context, q Question) (*genai.Candidate, error) {
	return a.ask(ctx, q, func(*genai.GenerateContentConfig) {}, func(*genai.Candidate) error { return nil })
}

func (a *Asker) ask(ctx context.Context, q Question, with func(*genai.GenerateContentConfig),
	read func(*genai.Candidate) error) (*genai.Candidate, error) {
	if a == nil || a.Generator == nil {
		return nil, errNobody
	}
	models := a.models(q.Purpose)
	if ending := a.Presets.EndingBeside(q.Purpose); ending != "" && q.Tell != nil && (a.Health == nil || a.Health.News(ending)) {
		q.Tell(engine.Notice{Text: ending})
	}
	bounded, cancel := context.WithTimeout(ctx, models[0].Limit)
	defer cancel()
	var first error
	failed := 0 // models that are there, and did not answer
	for i, p := range models {
		answer, err := a.try(bounded, q, p, i < len(models)-1, with, read)
		if first = cmp.Or(first, err); err == nil {
			return answer, nil
		}
		if bounded.Err() != nil && ctx.Err() == nil {
			return nil, &model.Error{Kind: model.Unavailable, Err: err,
				Message: fmt.Sprintf("no answer from %s for %s", p.Model, p.Limit)}
		}
		gone, helps := a.failover(p.Model, err)
		if !gone {
			failed++
		}
		if ctx.Err() != nil || !helps || failed == mostFailed {
			break
		}
		if q.Tell != nil && i < len(models)-1 && (gone || !q.Quiet) {
			q.Tell(engine.Notice{Text: fmt.Sprintf("%v; %s is asked instead", err, models[i+1].Model)})
		}
	}
	return nil, first
}

// models returns what a purpose is asked with: the models that are known to be unable to
// answer only if there is no other.
func (a *Asker) models(purpose string) []*preset.Preset {
	talk := ""
	if a.Model != nil {
		talk = a.Model()
	}
	all := a.Presets.SideQuestion(purpose, talk)
	if a.Health != nil {
		down := func(p *preset.Preset) bool { return a.Health.Down(p.Model) }
		if able := slices.DeleteFunc(slices.Clone(all), down); len(able) > 0 {
			return able
		}
	}
	return all
}

// mostFailed is how many models may fail to answer a question before it is given up: the
// fault is the server's then, whatever the model.
const mostFailed = 2

// failover reports whether there is no such model, and whether another one may answer where
// one has failed so.
func (a *Asker) failover(name string, err error) (gone, helps bool) {
	var e *model.Error
	if !errors.As(err, &e) {
		return false, false
	}
	if gone = e.Kind == model.NotFound; gone && a.Health != nil {
		a.Health.Missing(name)
	}
	return gone, gone || e.Kind == model.Quota || e.Kind == model.Unavailable && e.HTTP != 0
}

// tried is how often a model is asked that others can stand in for.
const tried = 3

// try asks one model.
func (a *Asker) try(ctx context.Context, q Question, p *preset.Preset, others bool,
	with func(*genai.GenerateContentConfig), read func(*genai.Candidate) error) (*genai.Candidate, error) {
	config := *p.Config
	if q.With != nil {
		q.With(&config)
	}
	if with(&config); q.System != "" {
		config.SystemInstruction = genai.NewContentFromText(q.System, genai.RoleUser)
	}
	t := teller{tell: q.Tell, quiet: q.Quiet, usage: engine.NewUsage(p.Model)}
	t.usage.Role = p.Role
	checked := &checking{Generator: a.Generator, read: read, once: q.Once, teller: &t}
	options := model.RetryOptions{Attempts: cmp.Or(p.Attempts, maxAttempts), Delay: firstDelay}
	if a.Attempts > 0 {
		options.Attempts = min(options.Attempts, a.Attempts)
	}
	if others {
		options.Attempts = min(options.Attempts, tried)
	}
	g := model.Retry(checked, options)
	req := &engine.Request{Model: p.Model, Contents: q.Contents, Config: &config, OneShot: true, Role: p.Role,
		Notify: t.notify}
	for _, err := range g.Generate(ctx, req) {
		if err != nil {
			return nil, empty(err)
		}
	}
	if checked.answer == nil { // perhaps a call of a tool, though none is offered
		return nil, &model.Error{Kind: model.Invalid, Code: "NO_RESPONSE_TEXT", Err: ErrEmpty,
			Message: "the model's answer has no text"}
	}
	return checked.answer, nil
}

// empty adds ErrEmpty to the error of an empty answer.
func empty(err error) error {
	var e *model.Error
	if !errors.As(err, &e) || e.Code != "NO_RESPONSE_TEXT" {
		return err
	}
	last := *e
	last.Err = ErrEmpty
	return &last
}

// A teller reports events beside the conversation.
type teller struct {
	tell  func(engine.Event)
	quiet bool // of all but the usage
	usage engine.Usage
}

func (t *teller) notify(ev engine.Event) {
	if again, ok := ev.(engine.Retry); ok { // nothing that was shown is taken back
		ev = engine.Notice{Text: fmt.Sprintf("%v; asked again in %s", again.Err, again.Delay.Round(time.Second))}
	}
	if _, ok := ev.(engine.AnswerContinued); ok || t.tell == nil { // each request is told of by itself
		return
	}
	if _, counts := ev.(engine.Usage); counts || !t.quiet {
		t.tell(ev)
	}
}

// A checking Generator gives answers that can be read. It keeps the last one.
type checking struct {
	engine.Generator
	*teller
	read   func(*genai.Candidate) error
	once   bool
	answer *genai.Candidate
	begun  *genai.Candidate // what came of the answer before this request
}

// Generate implements [engine.Generator].
func (g *checking) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		start, u, told := time.Now(), g.usage, false
		if g.answer = nil; req.Config == nil || len(req.Config.ContinuationToken) == 0 {
			g.begun = nil
		}
		for chunk, err := range g.Generator.Generate(ctx, req) {
			counted := err == nil && u.Update(chunk)
			if u.Took = time.Since(start); err != nil {
				u.Err = err
			}
			if counted || err != nil {
				told = true
				g.notify(u)
			}
			if err == nil {
				err = g.observe(chunk)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
		if !told { // the server has not counted
			g.notify(u)
		}
	}
}

// observe takes in an answer, which comes in one piece.
func (g *checking) observe(chunk *genai.GenerateContentResponse) error {
	if g.answer != nil || len(chunk.Candidates) == 0 || chunk.Candidates[0] == nil ||
		chunk.Candidates[0].Content == nil && g.begun == nil {
		return nil
	}
	c := joined(g.begun, chunk.Candidates[0])
	if c.FinishReason == genai.FinishReasonContinuation && len(c.ContinuationToken) > 0 {
		g.begun = c
		return nil
	}
	switch {
	case AnswerText(c) == "" && g.once:
		return &model.Error{Kind: model.Invalid, Code: "NO_RESPONSE_TEXT", Final: true, Answering: true,
			Message: "the model's answer has no text"}
	case AnswerText(c) == "":
		return nil // which is known below as no answer
	}
	if err := g.read(c); err != nil {
		return &model.Error{Kind: model.Invalid, Code: "NO_JSON", Answering: true, Err: err,
			Message: "the model was to answer with JSON, and did not"}
	}
	g.answer = c
	return nil
}

// joined returns the answer that begins with one candidate, which may be nil, and goes on
// with another.
func joined(begun, c *genai.Candidate) *genai.Candidate {
	if begun == nil {
		return c
	}
	whole := *c
	whole.Content = begun.Content
	if c.Content != nil {
		whole.Content = &genai.Content{Role: c.Content.Role, Parts: slices.Concat(begun.Content.Parts, c.Content.Parts)}
	}
	whole.GroundingMetadata = cmp.Or(c.GroundingMetadata, begun.GroundingMetadata)
	whole.URLContextMetadata = cmp.Or(c.URLContextMetadata, begun.URLContextMetadata)
	return &whole
}

// AnswerText returns what an answer says.
func AnswerText(c *genai.Candidate) string { return strings.TrimSpace(engine.TextOf(c.Content.Parts)) }

// unfenced returns the text in a code fence, if s is one.
func unfenced(s string) []byte {
	b := []byte(s)
	if inner, ok := bytes.CutPrefix(b, []byte("```")); ok {
		if _, rest, ok := bytes.Cut(inner, []byte("\n")); ok {
			b = bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("```"))
		}
	}
	return b
}
