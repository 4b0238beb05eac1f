// Package oneshot asks models questions outside of the conversation, such as a judgement of
// progress, the content of a page or a summary of the history.
//
// The caller names the purpose of a question, and the table of presets has the model, the
// settings and the timeout for it.
//
// # Questions have a timeout
//
// The timeout of a question, by its purpose, covers all attempts. At its end the caller gets an
// error and continues without an answer. Delays between attempts are shorter than in a
// conversation.
//
// # Models replace each other
//
// If a model can't answer, the next model is asked that the table has for the purpose and for the
// conversation's model. This also holds after a model that the user chose.
//
// # Answers are not shown
//
// Only a complete answer counts. Its tokens are reported as an [engine.Usage] with the role of
// the purpose. A failed attempt is reported as a Usage with its error, and as a notice.
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
	firstDelay  = time.Second // after an attempt without an answer
)

// ErrEmpty is the cause of the error of an empty answer.
var ErrEmpty = errors.New("the answer is empty")

// errNobody is the error if there is no model to ask.
var errNobody = errors.New("no model can be asked beside the conversation")

// An Asker asks questions. It is safe for concurrent use. A nil Asker returns an error for each
// question.
type Asker struct {
	// Generator makes a single attempt of each request.
	Generator engine.Generator

	// Presets has the model and settings for each purpose.
	Presets *preset.Table

	// Model, if not nil, returns the model of the conversation, whose family is asked.
	Model func() string

	// Health, if not nil, knows which models can't answer.
	Health Health

	// Attempts is the maximum number of attempts of a question: 5 if it is 0 or above 5. The
	// purpose may limit it further.
	Attempts int
}

// A Health knows which models can't answer. It is safe for concurrent use.
type Health interface {
	Down(model string) bool
	Missing(model string)  // notes that there is no such model
	News(text string) bool // reports whether a message is new to users, and records it
}

// For returns an Asker for a conversation with another model.
func (a *Asker) For(model func() string) *Asker {
	if a == nil {
		return nil
	}
	other := *a
	other.Model = model
	return &other
}

// A Question is a question outside of the conversation.
type Question struct {
	Purpose  string // a name for [preset.Table.Purpose]
	System   string // the instruction, may be empty
	Contents []*genai.Content

	// Once says that the question is not repeated after an empty or invalid answer.
	Once bool

	// With, if not nil, changes the settings of the purpose.
	With func(*genai.GenerateContentConfig)

	// Tell, if not nil, gets the usage of the answer and the failures. It is called on the
	// goroutine that asks.
	Tell func(engine.Event)

	// Quiet limits Tell to the usage of the answer and missing models, without other failures.
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

// JSON asks for an answer in JSON that fits a schema, and decodes it into a value. After an
// invalid answer the question is repeated, unless Once is set.
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

// Ask returns the answer, which is not empty.
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
	failed := 0 // existing models that did not answer
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

// models returns the presets for a purpose, without models that are known to be unable to answer,
// unless there is no other.
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

// mostFailed is how many models may fail to answer a question before it fails: the cause is then
// the server, not the model.
const mostFailed = 2

// failover reports whether the model does not exist, and whether another model may answer after
// this failure.
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

// tried is the number of attempts of a model that other models can replace.
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
	if checked.answer == nil { // perhaps a call of a tool that was not offered
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
	if again, ok := ev.(engine.Retry); ok { // no text was shown, so none is removed
		ev = engine.Notice{Text: fmt.Sprintf("%v; asked again in %s", again.Err, again.Delay.Round(time.Second))}
	}
	if _, ok := ev.(engine.AnswerContinued); ok || t.tell == nil { // each request is reported by itself
		return
	}
	if _, counts := ev.(engine.Usage); counts || !t.quiet {
		t.tell(ev)
	}
}

// A checking is a Generator that validates answers. It stores the last valid answer.
type checking struct {
	engine.Generator
	*teller
	read   func(*genai.Candidate) error
	once   bool
	answer *genai.Candidate
	begun  *genai.Candidate // the answer so far, before this request
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
		if !told { // the server sent no counts
			g.notify(u)
		}
	}
}

// observe checks an answer, which comes in one piece.
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
		return nil // handled below as a missing answer
	}
	if err := g.read(c); err != nil {
		return &model.Error{Kind: model.Invalid, Code: "NO_JSON", Answering: true, Err: err,
			Message: "the model was to answer with JSON, and did not"}
	}
	g.answer = c
	return nil
}

// joined appends a candidate to an answer begun by another, which may be nil.
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

// AnswerText returns the text of an answer.
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
