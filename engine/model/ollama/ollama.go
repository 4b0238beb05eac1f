// Package ollama is the client of Ollama's own /api/chat, since its /v1 can't set the context
// size of a model. Begin with [New].
//
// # Mapping of requests and answers
//
//	the conversation           the request
//	system instruction         a message of "system"
//	a call                     tool_calls with an id (servers since 0.12.10 know ids); its
//	                           arguments as an object
//	the answer to a call       a message of "tool" with tool_name and tool_call_id
//	images                     images of a message of "user"; other files in words
//	thoughts                   thinking, to who made them; the model's template decides which
//	                           of them the model reads again
//	tools                      tools, if /api/show says that the model takes some, and /api/chat
//	                           does not refuse them
//	a schema of the answer     format
//	the longest answer         options.num_predict
//	temperature, topP, seed    options of the same names
//	thinking                   think: how much for gpt-oss, and true for others that think
//	the conversation's size    options.num_ctx: the tokens that fit it, up to the model's limit
//
//	the answer                 the chunk
//	message.content            text
//	message.thinking           a thought
//	message.tool_calls         calls, whole, at the end
//	done_reason                STOP; length is MAX_TOKENS
//	no done                    the answer broke off
//	prompt_eval_count          the tokens of the prompt; eval_count those of the answer
//
// # The context
//
// Ollama silently drops the beginning of a conversation that exceeds the context with which the
// model was loaded. So each request asks for a sufficient context, in steps, since another size
// reloads the model. If the model has no such context, the user is told.
package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/protocol"
	"gemline/engine/text"
)

// A Generator asks the models of an Ollama server.
type Generator struct {
	client   *model.Client
	provider model.Provider
	refused  protocol.Refusals

	mu    sync.Mutex
	known map[string]*About
}

// An About is the server's information about a model.
type About struct {
	Context          int      // size in tokens, 0 if unknown
	Capabilities     []string // nil if unknown
	loaded           int      // the last requested context
	overflowReported bool     // the user knows that the last conversation exceeds the context
}

// New returns a Generator of the models of p. The error, if any, is a [model.Error].
func New(p model.Provider, o model.Options) (*Generator, error) {
	v := p.Vendor()
	v.Missing = "ollama list names the models that are there, and ollama pull fetches others"
	v.Start = " with ollama serve"
	if p.KeyVariable == "" {
		v.Advice = "ollama signin signs this machine in to the models that end with cloud"
	}
	c, err := model.NewClient(o, v)
	return &Generator{client: c, provider: p, known: map[string]*About{}}, err
}

// Close drops the connections that are kept for the next request.
func (g *Generator) Close() error { return g.client.Close() }

// Count implements [engine.Generator]. It is a guess.
func (g *Generator) Count(ctx context.Context, req *engine.Request) (int, error) {
	return engine.Estimate(req.Contents), ctx.Err()
}

// Generate implements [engine.Generator]. The model is one of the server's, without the
// provider's name.
func (g *Generator) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return model.Chunks(ctx, func(emit func(*genai.GenerateContentResponse) error) error {
		about := g.about(ctx, req)
		for {
			r, tools, err := g.request(req, about)
			if err != nil {
				return err
			}
			if g.fit(r, about, req) && !req.OneShot {
				g.tellLoading(ctx, r, req)
			}
			err = g.ask(ctx, req, r, tools, emit)
			if len(r.Tools) == 0 || !g.refused.Learn(g.provider, req, err, []string{model.Tools}) { // if /api/show does not list them
				return err
			}
		}
	})
}

func (g *Generator) ask(ctx context.Context, req *engine.Request, r *request, tools []protocol.Tool, emit func(*genai.GenerateContentResponse) error) error {
	return g.client.Ask(ctx, req, "api/chat", r, func(a *model.Answer) error {
		s := stream{answer: protocol.NewAnswer(req, g.provider.Name, tools, emit), from: a}
		if err := a.Lines(s.line); err != nil {
			return err
		}
		if !s.over {
			return a.Broken()
		}
		return nil
	})
}

// about returns the server's information about the model. Without it, the model counts as capable
// of everything.
func (g *Generator) about(ctx context.Context, req *engine.Request) *About {
	g.mu.Lock()
	about := g.known[req.Model]
	g.mu.Unlock()
	if about != nil {
		return about
	}
	about, err := g.Show(ctx, req.Model)
	if err != nil {
		about = &About{}
	}
	if ctx.Err() == nil {
		g.mu.Lock()
		g.known[req.Model] = about
		g.mu.Unlock()
	}
	return about
}

// Show asks the server about a model.
func (g *Generator) Show(ctx context.Context, name string) (*About, error) {
	var said struct {
		Capabilities []string
		Info         map[string]any `json:"model_info"`
	}
	err := g.client.Ask(ctx, &engine.Request{Model: name}, "api/show", map[string]string{"model": name}, func(a *model.Answer) error {
		return a.Document(&said)
	})
	about := &About{Capabilities: said.Capabilities}
	for key, v := range said.Info {
		if n, ok := v.(float64); ok && strings.HasSuffix(key, ".context_length") {
			about.Context = int(n)
		}
	}
	return about, err
}

// List returns the models of the server, each with the server's facts about it.
func (g *Generator) List(ctx context.Context) ([]model.ModelInfo, error) {
	var said struct{ Models []struct{ Name string } }
	if err := g.client.Get(ctx, "api/tags", &said); err != nil {
		return nil, err
	}
	all, talks := make([]model.ModelInfo, len(said.Models)), make([]bool, len(said.Models))
	var asked sync.WaitGroup
	for i, m := range said.Models {
		all[i].Name, talks[i] = m.Name, true
		asked.Go(func() {
			about, err := g.Show(ctx, m.Name)
			if err != nil || about.Capabilities == nil {
				return
			}
			all[i].Input, all[i].Takes, talks[i] = about.Context, []string{}, about.Can("completion")
			for _, can := range [][2]string{{"tools", model.Tools}, {"vision", model.Images}} {
				if about.Can(can[0]) {
					all[i].Takes = append(all[i].Takes, can[1])
				}
			}
		})
	}
	asked.Wait()
	var list []model.ModelInfo
	for i, m := range all {
		if talks[i] {
			list = append(list, m)
		}
	}
	return list, nil
}

// Can reports whether a model has a capability; true if unknown.
func (a *About) Can(what string) bool {
	return a.Capabilities == nil || slices.Contains(a.Capabilities, what)
}

// step is the increment of the context, and reserve the part for an answer.
const (
	step    = 8192
	reserve = 4096
)

// fit requests a sufficient context for r, and tells the user if there is none. It reports
// whether the size differs from the last request.
func (g *Generator) fit(r *request, about *About, req *engine.Request) (other bool) {
	said, _ := text.JSON(struct{ Messages, Tools any }{r.Messages, r.Tools}, "")
	images := 0
	for _, m := range r.Messages {
		for _, i := range m.Images {
			images += len(i) * 4 / 3 // their length in said
		}
	}
	need := (len(said)-images)/3 + reserve // a token is rarely less than three bytes
	if n := r.Options.NumPredict; n > 0 {
		need += int(n) - reserve
	}
	g.mu.Lock()
	size := max(about.loaded, (need+step-1)/step*step)
	if about.Context > 0 && size > about.Context {
		size = about.Context
	}
	over := about.Context > 0 && need-reserve > about.Context
	tell := over && !about.overflowReported && req.Notify != nil && !req.OneShot
	if !req.OneShot {
		about.overflowReported = over
	}
	other = size != about.loaded
	about.loaded, r.Options.NumCtx = size, size
	g.mu.Unlock()
	if tell { // not under the lock
		req.Notify(engine.Notice{Text: fmt.Sprintf("the conversation takes about %s tokens, and %s/%s holds %s: Ollama leaves out its beginning; /compress in a session shortens it",
			text.Number(need-reserve), g.provider.Name, req.Model, text.Number(about.Context))})
	}
	return other
}

// tellLoading tells the user that the server must load the model first, if the server reports
// that.
func (g *Generator) tellLoading(ctx context.Context, r *request, req *engine.Request) {
	var now struct {
		Models []struct {
			Name    string
			Context int `json:"context_length"`
		}
	}
	if req.Notify == nil || g.client.Get(ctx, "api/ps", &now) != nil {
		return
	}
	for _, m := range now.Models {
		if (m.Name == r.Model || m.Name == r.Model+":latest") && (m.Context == 0 || m.Context >= r.Options.NumCtx) {
			return
		}
	}
	req.Notify(engine.Notice{Text: g.provider.Name + " loads " + r.Model + ", which may take a minute"})
}

// Context returns the context size of a model in tokens, 0 if unknown.
func (g *Generator) Context(ctx context.Context, name string) int {
	return g.about(ctx, &engine.Request{Model: name}).Context
}

// A stream is an incoming answer.
type stream struct {
	answer *protocol.Answer
	from   *model.Answer
	named  bool // the model is known
	over   bool
}

// usual is the shape of most pieces.
var usual = model.Shape{"model": model.Scalar, "created_at": model.Scalar, "message": model.Shape{"role": model.Scalar, "content": model.Content}, "done": "false"}

// line processes a piece of the answer.
func (s *stream) line(data []byte) error {
	if s.named && !s.over {
		if said, ok := usual.Text(data); ok {
			return s.text(said)
		}
	}
	var c struct {
		Model   string
		Message struct {
			Content, Thinking string
			ToolCalls         []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
		Done   bool
		Reason string         `json:"done_reason"`
		Prompt protocol.Count `json:"prompt_eval_count"`
		Output protocol.Count `json:"eval_count"`
		Error  json.RawMessage
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return s.from.Unreadable(err, data)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return s.from.Fault(c.Error)
	}
	if s.over {
		return nil
	}
	s.answer.Model(c.Model)
	s.named = s.named || c.Model != ""
	if err := s.answer.Thought(c.Message.Thinking); err != nil {
		return err
	}
	if c.Message.Content != "" || len(c.Message.ToolCalls) > 0 || c.Done {
		if err := s.text(c.Message.Content); err != nil {
			return err
		}
	}
	for _, call := range c.Message.ToolCalls {
		s.answer.New(call.ID, call.Function.Name, string(call.Function.Arguments))
	}
	if !c.Done {
		return nil
	}
	s.over = true
	s.from.Over()
	if c.Prompt+c.Output > 0 {
		s.answer.Usage(c.Prompt, 0, c.Output, 0)
	}
	if c.Reason == "length" {
		return s.answer.End(genai.FinishReasonMaxTokens)
	}
	return s.answer.End(genai.FinishReasonStop)
}

// text processes text, which ends a thought before it.
func (s *stream) text(said string) error {
	if s.answer.Thinking() {
		if err := s.answer.Sign(""); err != nil {
			return err
		}
	}
	return s.answer.Text(said)
}
