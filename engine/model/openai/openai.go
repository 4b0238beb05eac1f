// Package openai is a client of OpenAI's Chat Completions API, which many providers' servers
// implement. Begin with [New].
//
// # Mapping of requests and answers
//
//	the conversation           the request
//	system instruction         a message of "system"
//	texts                      the content of messages of "user" and "assistant"
//	a call                     tool_calls; its arguments as JSON in a text
//	the answers to calls       messages of "tool", in the order of the calls, before all else;
//	                           a word of the model's behind them, where the server wants it
//	an id of a call            the same one, or one made of it where the server refuses it
//	images, PDF, sound         image_url, file and input_audio in a message of "user"; in words
//	                           where the server does not take them, or has refused them
//	thoughts that go back      reasoning_content or reasoning_details, to who made them; where
//	                           the first must be there, a blank in its place
//	tools                      tools, with their schemas as they are, or with what the server
//	                           wants; a name that the server refuses is replaced on the way
//	which calls may be made    tool_choice
//	a schema of the answer     response_format: json_schema, or json_object where that is all
//	the longest answer         max_completion_tokens, or max_tokens
//	temperature, topP, seed    the same, where the model takes them
//	thinking                   reasoning_effort, where the model takes it
//
//	the answer                 the chunk
//	delta.content              text
//	delta.reasoning_content    a thought; delta.reasoning, too
//	delta.tool_calls           calls, whole, at the end, whatever pieces they came in
//	delta.images               images
//	delta.refusal              a refusal
//	finish_reason              STOP; length is MAX_TOKENS, content_filter SAFETY; error, abort
//	                           and the like: the answer broke off
//	no finish_reason           STOP behind [DONE]; else the answer broke off
//	usage                      the tokens, of which cached_tokens are cached and
//	                           reasoning_tokens thoughts; a guess without it
//
// The API can't count tokens: they are estimated.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/protocol"
	"gemline/engine/text"
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

// Count implements [engine.Generator]. It is a guess.
func (g *Generator) Count(ctx context.Context, req *engine.Request) (int, error) {
	return engine.Estimate(req.Contents), ctx.Err()
}

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
			if !g.refused.Learn(g.provider, req, err, r.unsent.refusable) {
				return err
			}
		}
	})
}

func (g *Generator) ask(ctx context.Context, req *engine.Request, r *request, emit func(*genai.GenerateContentResponse) error) error {
	return g.client.Ask(ctx, req, "chat/completions", r, func(a *model.Answer) error {
		s := stream{answer: protocol.NewAnswer(req, g.provider.Name, r.unsent.tools, emit), from: a, thoughts: g.provider.Thoughts}
		done, err := a.Stream(s.event)
		if err != nil {
			return err
		}
		return s.end(done)
	})
}

// A stream is an incoming answer.
type stream struct {
	answer    *protocol.Answer
	from      *model.Answer
	thoughts  string            // the field in which thoughts are sent back
	details   []json.RawMessage // of thoughts
	finish    string
	refusal   string
	named     bool   // the model is known
	noChoices []byte // an event without choices, which may be an error
	pieces    bool   // some text came as a delta
	whole     bool   // the answer is a document
}

// A chunk is a piece of an answer, or all of it.
type chunk struct {
	Object  looseText
	Model   looseText
	Choices []struct {
		Index        protocol.Count
		Delta        delta
		Message      *delta
		FinishReason looseText       `json:"finish_reason"`
		Error        json.RawMessage // of OpenRouter
	}
	Usage *struct {
		PromptTokens     protocol.Count `json:"prompt_tokens"`
		CompletionTokens protocol.Count `json:"completion_tokens"`
		TotalTokens      protocol.Count `json:"total_tokens"`
		PromptDetails    struct {
			Cached protocol.Count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning protocol.Count `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		CacheHits protocol.Count `json:"prompt_cache_hit_tokens"` // of DeepSeek
	}
	Error                json.RawMessage
	Detail, Msg, Message json.RawMessage // of servers and gateways that say errors so, with 200
}

// A delta is what a chunk adds to the message.
type delta struct {
	Content          content
	ReasoningContent looseText `json:"reasoning_content"`
	Reasoning        looseText
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	Refusal          looseText
	Images           images
	FunctionCall     callPiece `json:"function_call"` // of servers older than tool_calls
	ToolCalls        []struct {
		Index    *protocol.Count
		ID       looseText
		Function callPiece
	} `json:"tool_calls"`
}

// A callPiece names the tool of a call, or is the next piece of its arguments.
type callPiece struct {
	Name      looseText
	Arguments arguments
}

// Images are images in the form of OpenRouter; another form is read as none.
type images []struct {
	ImageURL struct{ URL string } `json:"image_url"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (i *images) UnmarshalJSON(b []byte) error {
	type ofOpenRouter images
	if json.Unmarshal(b, (*ofOpenRouter)(i)) != nil {
		*i = nil
	}
	return nil
}

// A looseText is a string or a number, which some servers use as an id; any other value is "".
type looseText string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *looseText) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(w))
	case b[0] == '-' || '0' <= b[0] && b[0] <= '9':
		*w = looseText(b)
	}
	return nil
}

// A content is a text, or a list of parts, among them thoughts.
type content struct{ said, thought string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, &c.said)
	}
	var parts []struct {
		Text     string
		Thinking json.RawMessage
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.said += p.Text
		if len(p.Thinking) == 0 {
			continue
		}
		inner := content{}
		if err := inner.UnmarshalJSON(p.Thinking); err != nil {
			return err
		}
		c.thought += inner.said
	}
	return nil
}

// Arguments are a string or, from some servers, the object itself.
type arguments string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(a))
	case string(b) != "null": // sent by some servers before the first piece
		*a = arguments(b)
	}
	return nil
}

// usual is the shape of most pieces.
var usual = model.Shape{"id": model.Scalar, "object": model.Scalar, "created": model.Scalar, "model": model.Scalar,
	"system_fingerprint": model.Scalar, "service_tier": model.Scalar, "obfuscation": model.Scalar, "p": model.Scalar, "usage": "null",
	"choices": []model.Shape{{"index": "0", "delta": model.Shape{"role": model.Scalar, "content": model.Content}, "finish_reason": "null", "logprobs": "null"}}}

// event processes a piece of the answer.
func (s *stream) event(data []byte) error {
	if s.named {
		if said, ok := usual.Text(data); ok {
			return s.delta(delta{Content: content{said: said}})
		}
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return s.from.Unreadable(err, data)
	}
	if c.Object == "error" { // of vLLM
		c.Error = data
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return s.from.Fault(c.Error)
	}
	s.answer.Model(string(c.Model))
	s.named = s.named || c.Model != ""
	if u := c.Usage; u != nil {
		output := u.CompletionTokens
		if r := u.CompletionDetails.Reasoning; r > 0 && u.PromptTokens+output+r == u.TotalTokens { // xAI counts them separately
			output += r
		}
		s.answer.Usage(u.PromptTokens, cmp.Or(u.PromptDetails.Cached, u.CacheHits), output, u.CompletionDetails.Reasoning)
	}
	if c.Choices == nil && len(c.Detail)+len(c.Msg)+len(c.Message) > 0 {
		s.noChoices = bytes.Clone(data)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 { // not requested
			continue
		}
		if len(choice.Error) > 0 && string(choice.Error) != "null" {
			return s.from.Fault(choice.Error)
		}
		if s.finish = cmp.Or(string(choice.FinishReason), s.finish); s.finish != "" {
			s.from.Over()
		}
		d := choice.Delta
		s.pieces = s.pieces || d.Content.said != ""
		if choice.Message != nil && !s.pieces { // after pieces, it only repeats them
			d, s.whole = *choice.Message, true
		}
		if err := s.delta(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) delta(d delta) error {
	s.details = append(s.details, d.ReasoningDetails...)
	s.refusal += string(d.Refusal)
	if err := s.answer.Thought(cmp.Or(string(d.ReasoningContent), string(d.Reasoning), d.Content.thought, worded(d.ReasoningDetails))); err != nil {
		return err
	}
	old := d.FunctionCall
	if d.Content.said != "" || len(d.ToolCalls) > 0 || old != (callPiece{}) {
		if err := s.sign(); err != nil {
			return err
		}
	}
	if err := s.answer.Text(d.Content.said); err != nil {
		return err
	}
	for _, i := range d.Images {
		kind, data, _ := strings.Cut(strings.TrimPrefix(i.ImageURL.URL, "data:"), ";base64,")
		if b, err := base64.StdEncoding.DecodeString(data); err == nil && len(b) > 0 {
			if err := s.answer.Part(&genai.Part{InlineData: &genai.Blob{MIMEType: kind, Data: b}}); err != nil {
				return err
			}
		}
	}
	if old != (callPiece{}) {
		s.answer.Call(0, "", string(old.Name), string(old.Arguments))
	}
	for i, c := range d.ToolCalls {
		index := -1
		if c.Index != nil {
			index = int(*c.Index)
		} else if s.whole {
			index = i
		}
		s.answer.Call(index, string(c.ID), string(c.Function.Name), string(c.Function.Arguments))
	}
	return nil
}

// sign ends a thought that is sent back as text.
func (s *stream) sign() error {
	if s.thoughts != model.ReasoningContent || !s.answer.Thinking() {
		return nil
	}
	return s.answer.Sign("")
}

// end ends the answer. Done says that the server has marked the answer as complete.
func (s *stream) end(done bool) error {
	if err := s.sign(); err != nil {
		return err
	}
	if s.thoughts == model.ReasoningDetails && len(s.details) > 0 {
		own, err := text.JSON(joined(s.details), "")
		if err != nil {
			return err
		}
		if err := s.answer.Sign(string(own)); err != nil {
			return err
		}
	}
	if s.refusal != "" {
		return s.answer.Refused(s.refusal)
	}
	switch s.finish {
	case "length", "model_length", "max_tokens":
		return s.answer.End(genai.FinishReasonMaxTokens)
	case "content_filter", "sensitive":
		return s.answer.End(genai.FinishReasonSafety)
	case "error", "abort", "insufficient_system_resource", "network_error":
		return s.from.Broken()
	case "":
		switch {
		case done, s.whole:
		case s.noChoices != nil:
			return s.from.Fault(s.noChoices)
		default:
			return s.from.Broken()
		}
	}
	return s.answer.End(genai.FinishReasonStop)
}
