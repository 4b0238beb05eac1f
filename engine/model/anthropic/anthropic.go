// Package anthropic is a client of Anthropic's Messages API. Begin with [New].
//
// # Mapping of requests and answers
//
//	the conversation           the request
//	system instruction         system
//	a call                     a block of tool_use
//	the answers to calls       blocks of tool_result, before all else of the message
//	an id of a call            the same one, or one made of it where the server refuses it
//	images, PDF                blocks of image and document; other files in words, and these
//	                           where the server has refused them
//	thoughts that go back      blocks of thinking and redacted_thinking, as they were signed;
//	                           not if a secret had to be taken out
//	tools                      tools; no anyOf, oneOf or allOf at the top of a schema
//	which calls may be made    tool_choice
//	a schema of the answer     a tool that must be called, whose arguments are the answer
//	the longest answer         max_tokens, which is required
//	temperature, topP, topK    the same, where the model takes them and does not think
//	thinking                   output_config.effort, with thinking of adaptive; of older models
//	                           a budget
//	what is said again         cache_control on the system's text, on the tools and on the last
//	                           two messages of the user
//
//	the answer                 the chunk
//	text_delta                 text
//	thinking_delta             a thought, which signature_delta signs
//	redacted_thinking          a signed thought without words
//	input_json_delta           a call, whole, at the end
//	stop_reason                STOP; max_tokens and model_context_window_exceeded MAX_TOKENS;
//	                           refusal a refusal; pause_turn continues in another request
//	no stop_reason             the answer broke off
//	usage                      the tokens: the prompt is input_tokens with what the cache has
//	                           given and taken
//
// Tokens are counted by the server.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/protocol"
)

// A Generator asks the models of a provider.
type Generator struct {
	client   *model.Client
	provider model.Provider
	refused  protocol.Refusals
}

// New returns a Generator of the models of p. The error, if any, is a [model.Error].
func New(p model.Provider, o model.Options) (*Generator, error) {
	c, err := model.NewClient(o, p.Vendor())
	return &Generator{client: c, provider: p}, err
}

// Close drops the connections that are kept for the next request.
func (g *Generator) Close() error { return g.client.Close() }

// Count implements [engine.Generator].
func (g *Generator) Count(ctx context.Context, req *engine.Request) (int, error) {
	said := map[string]any{"model": req.Model, "messages": g.messages(req)}
	var count struct {
		Tokens int `json:"input_tokens"`
	}
	err := g.client.Ask(ctx, req, "v1/messages/count_tokens", said, func(a *model.Answer) error { return a.Document(&count) })
	return count.Tokens, err
}

// List returns the models that the server has.
func (g *Generator) List(ctx context.Context) (all []model.ModelInfo, err error) {
	var said struct {
		Data []struct {
			ID     string
			Title  string `json:"display_name"`
			Input  int    `json:"max_input_tokens"`
			Output int    `json:"max_tokens"`
		}
	}
	err = g.client.Get(ctx, "v1/models?limit=1000", &said)
	for _, m := range said.Data {
		all = append(all, model.ModelInfo{Name: m.ID, Title: m.Title, Input: m.Input, Output: m.Output})
	}
	return all, err
}

// mostPauses is how often an answer may pause and continue.
const mostPauses = 10

// Generate implements [engine.Generator]. The model is one of the provider's, without the
// provider's name.
func (g *Generator) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return model.Chunks(ctx, func(emit func(*genai.GenerateContentResponse) error) error {
		for {
			r, err := g.request(req)
			if err != nil {
				return err
			}
			err = g.ask(ctx, req, r, emit)
			if !g.refused.Learn(g.provider, req, err, r.refusable()) {
				return err
			}
		}
	})
}

// ask makes a request, and further requests as long as the answer pauses.
func (g *Generator) ask(ctx context.Context, req *engine.Request, r *request, emit func(*genai.GenerateContentResponse) error) error {
	s := &stream{answer: protocol.NewAnswer(req, g.provider.Name, nil, emit), formed: r.formed}
	for range mostPauses {
		err := g.client.Ask(ctx, req, "v1/messages", r, func(a *model.Answer) error {
			s.begin(a)
			if _, err := a.Stream(s.event); err != nil {
				return err
			}
			return s.end()
		})
		if err != nil || s.reason != "pause_turn" {
			return err
		}
		if said := s.said.String(); strings.TrimSpace(said) != "" { // since the server refuses empty text
			r.Messages = append(r.Messages, message{"assistant", []block{{Type: "text", Text: said}}})
		}
	}
	return s.answer.End(genai.FinishReasonMaxTokens)
}

// A stream is an incoming answer.
type stream struct {
	answer *protocol.Answer
	from   *model.Answer
	formed bool // the arguments of the only call are the answer
	reason string
	why    string         // of a refusal
	kinds  map[int]string // of the blocks
	said   strings.Builder
	usage  usage
}

type usage struct {
	Input    protocol.Count `json:"input_tokens"`
	Read     protocol.Count `json:"cache_read_input_tokens"`
	Creation protocol.Count `json:"cache_creation_input_tokens"`
	Output   protocol.Count `json:"output_tokens"`
	Details  struct {
		Thinking protocol.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// A piece is a block of an answer, or an addition to it.
type piece struct {
	Type        string
	Text        string
	Thinking    string
	Signature   string
	Data        string
	ID, Name    string
	Input       json.RawMessage
	PartialJSON string `json:"partial_json"`
}

// An event is an event of a stream. An answer in one document has the fields of a message.
type event struct {
	Type         string
	Index        int
	Message      *event
	ContentBlock piece `json:"content_block"`
	Delta        struct {
		piece
		StopReason  string      `json:"stop_reason"`
		StopDetails stopDetails `json:"stop_details"`
	}
	Model       string
	Content     []piece
	StopReason  string      `json:"stop_reason"`
	StopDetails stopDetails `json:"stop_details"`
	Usage       *usage
	Error       json.RawMessage
}

type stopDetails struct{ Explanation, Category string }

func (d stopDetails) why() string { return cmp.Or(d.Explanation, d.Category) }

// begin starts or continues an answer.
func (s *stream) begin(a *model.Answer) {
	s.from, s.reason, s.kinds = a, "", map[int]string{}
}

// usual is the shape of most events.
var usual = model.Shape{"type": `"content_block_delta"`, "index": model.Scalar, "delta": model.Shape{"type": `"text_delta"`, "text": model.Content}}

// event processes an event.
func (s *stream) event(data []byte) error {
	if said, ok := usual.Text(data); ok {
		return s.delta(0, piece{Text: said})
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return s.from.Unreadable(err, data)
	}
	switch e.Type {
	case "error":
		return s.from.Fault(e.Error)
	case "message_start":
		if e.Message != nil {
			return s.message(*e.Message)
		}
	case "message":
		return s.message(e)
	case "content_block_start":
		return s.block(e.Index, e.ContentBlock)
	case "content_block_delta":
		return s.delta(e.Index, e.Delta.piece)
	case "message_delta":
		s.reason, s.why = cmp.Or(e.Delta.StopReason, s.reason), cmp.Or(e.Delta.StopDetails.why(), s.why)
		s.count(e.Usage)
		if s.reason != "" {
			s.from.Over()
		}
	}
	return nil
}

// message processes a message, or its beginning.
func (s *stream) message(e event) error {
	s.answer.Model(e.Model)
	s.count(e.Usage)
	s.reason, s.why = e.StopReason, e.StopDetails.why()
	for i, p := range e.Content {
		if err := s.block(i, p); err != nil {
			return err
		}
	}
	return nil
}

// count takes over the counts of tokens in u.
func (s *stream) count(u *usage) {
	if u == nil {
		return
	}
	s.usage = usage{cmp.Or(u.Input, s.usage.Input), cmp.Or(u.Read, s.usage.Read), cmp.Or(u.Creation, s.usage.Creation),
		cmp.Or(u.Output, s.usage.Output), s.usage.Details}
	s.usage.Details.Thinking = cmp.Or(u.Details.Thinking, s.usage.Details.Thinking)
}

// block processes a block, or its beginning.
func (s *stream) block(index int, p piece) error {
	s.kinds[index] = p.Type
	switch p.Type {
	case "tool_use":
		if !s.formed {
			s.answer.Call(index, p.ID, p.Name, "")
		}
		if len(p.Input) > 0 && string(p.Input) != "{}" {
			return s.delta(index, piece{PartialJSON: string(p.Input)})
		}
		return nil
	case "redacted_thinking":
		return s.answer.Sign(redacted + p.Data)
	}
	return s.delta(index, p)
}

// The prefixes of signatures, by the kind of block.
const (
	signed   = "s:"
	redacted = "r:"
)

// delta processes a further piece of a block.
func (s *stream) delta(index int, p piece) error {
	if p.PartialJSON != "" {
		if s.formed {
			return s.answer.Text(p.PartialJSON)
		}
		if s.kinds[index] == "tool_use" {
			s.answer.Call(index, "", "", p.PartialJSON)
		}
		return nil
	}
	if err := s.answer.Thought(p.Thinking); err != nil {
		return err
	}
	if p.Signature != "" {
		if err := s.answer.Sign(signed + p.Signature); err != nil {
			return err
		}
	}
	s.said.WriteString(p.Text)
	return s.answer.Text(p.Text)
}

// end ends the answer.
func (s *stream) end() error {
	if u := s.usage; u.Input+u.Read+u.Creation+u.Output > 0 {
		s.answer.Usage(u.Input+u.Read+u.Creation, u.Read, u.Output, u.Details.Thinking)
	}
	switch s.reason {
	case "":
		return s.from.Broken()
	case "pause_turn":
		return nil
	case "refusal":
		return s.answer.Refused(s.why)
	case "max_tokens", "model_context_window_exceeded":
		return s.answer.End(genai.FinishReasonMaxTokens)
	}
	return s.answer.End(genai.FinishReasonStop)
}
