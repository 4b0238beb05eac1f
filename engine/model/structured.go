package model

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/tailscale/hujson"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/catalog"
)

// A Structured is a Generator that has another Generator answer with JSON.
//
// The instruction always requires the schema. The API enforces it where it can: from Gemini 3 on
// in every request, for older models only in requests without tools, which follow Insist. A
// schema that the API refuses is dropped from then on, and the user is told once.
type Structured struct {
	engine.Generator
	schema   json.RawMessage
	words    string
	insists  atomic.Bool
	refused  [2]atomic.Bool // without and with tools
	reported atomic.Bool
}

// Structure returns a Generator that asks g for answers that fit a JSON Schema, which must be an
// object. The caller must validate the answers.
func Structure(g engine.Generator, schema json.RawMessage) (*Structured, error) {
	known, err := without(schema, "$schema") // which the API does not know
	if err != nil {
		return nil, err
	}
	return &Structured{Generator: g, schema: known, words: `# The form of the final answer

Work with the tools as the task needs it. The final answer is read by a program: it is one JSON value that fits the JSON Schema below and nothing else, with no words before or after it and no code fence around it.

` + string(schema)}, nil
}

// without returns an object without a key. The other keys stay in order, which models follow.
func without(object json.RawMessage, name string) (json.RawMessage, error) {
	v, err := hujson.Parse(object)
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.Join(err, errors.New("a schema is an object"))
	}
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
	v.Minimize()
	return v.Pack(), err
}

// Insist says that only the answer is missing: requests to older models have no tools from now
// on, so that the API can enforce the schema.
func (s *Structured) Insist() { s.insists.Store(true) }

// Generate implements [engine.Generator].
func (s *Structured) Generate(ctx context.Context,
	req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		asked := s.instructed(req)
		bare := *asked.Config
		if len(bare.Tools) > 0 && s.insists.Load() && !together(req.Model) {
			bare.Tools, bare.ToolConfig = nil, nil
		}
		refused := &s.refused[min(len(bare.Tools), 1)]
		asked.Config = &bare
		if len(bare.Tools) > 0 && !together(req.Model) || refused.Load() {
			s.Generator.Generate(ctx, asked)(yield)
			return
		}
		held := bare
		held.ResponseMIMEType, held.ResponseJsonSchema = "application/json", s.schema
		if !attempt(s.Generator.Generate(ctx, s.with(asked, &held)), unfit, yield) {
			return
		}
		for chunk, err := range s.Generator.Generate(ctx, asked) {
			if err == nil && !refused.Swap(true) && !s.reported.Swap(true) && req.Notify != nil {
				req.Notify(engine.Notice{Text: "the model's server does not take the JSON schema; its answers are checked all the same"})
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// instructed returns a copy of req whose instruction describes the answer.
func (s *Structured) instructed(req *engine.Request) *engine.Request {
	config := genai.GenerateContentConfig{}
	if req.Config != nil {
		config = *req.Config
	}
	system := &genai.Content{Role: genai.RoleUser}
	if c := config.SystemInstruction; c != nil {
		system.Role, system.Parts = c.Role, slices.Clone(c.Parts)
	}
	text := s.words
	if n := len(system.Parts); n > 0 && isText(system.Parts[n-1]) {
		text = system.Parts[n-1].Text + "\n\n" + text
		system.Parts = system.Parts[:n-1]
	}
	system.Parts = append(system.Parts, genai.NewPartFromText(text))
	config.SystemInstruction = system
	return s.with(req, &config)
}

func isText(p *genai.Part) bool { return p != nil && p.Text != "" }

// with returns a copy of req with another config.
func (*Structured) with(req *engine.Request, config *genai.GenerateContentConfig) *engine.Request {
	r := *req
	r.Config = config
	return &r
}

// together reports whether a model accepts tools and a schema in one request.
func together(model string) bool { return catalog.Lookup(model).Kin.Schemas }

// unfit reports whether err may be about the schema. The API's messages differ from model to
// model, so only the next request shows whether it is.
func unfit(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == BadRequest && e.HTTP == http.StatusBadRequest
}
