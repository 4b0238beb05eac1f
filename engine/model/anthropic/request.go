package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/protocol"
)

// A request is the body of an HTTP request.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int32         `json:"max_tokens"`
	System       []block       `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Tools        []tool        `json:"tools,omitempty"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitempty"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Temperature  *float32      `json:"temperature,omitempty"`
	TopP         *float32      `json:"top_p,omitempty"`
	TopK         *float32      `json:"top_k,omitempty"`
	Stop         []string      `json:"stop_sequences,omitempty"`
	Stream       bool          `json:"stream"`

	formed bool // the answer is in the arguments of a call
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// A block is a part of a message.
type block struct {
	Type      string        `json:"type"`
	Text      string        `json:"text,omitempty"`
	Source    *source       `json:"source,omitempty"`
	ID        string        `json:"id,omitempty"`
	Name      string        `json:"name,omitempty"`
	Input     *input        `json:"input,omitempty"`
	ToolUseID string        `json:"tool_use_id,omitempty"`
	Content   string        `json:"content,omitempty"`
	IsError   bool          `json:"is_error,omitempty"`
	Thinking  *string       `json:"thinking,omitempty"`
	Signature string        `json:"signature,omitempty"`
	Data      string        `json:"data,omitempty"`
	Cache     *cacheControl `json:"cache_control,omitempty"`
}

type input map[string]any

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

var ephemeral = &cacheControl{"ephemeral"}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cacheControl   `json:"cache_control,omitempty"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type thinking struct {
	Type    string `json:"type"`
	Display string `json:"display,omitempty"`
	Budget  int    `json:"budget_tokens,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort,omitempty"`
}

// The default limits of answers: the API requires a limit.
const (
	longAnswer  = 32_000
	shortAnswer = 4_096 // of models that do not think
)

// budgets are how many tokens older models may think.
var budgets = map[string]int{"low": 2048, "medium": 8192, "high": 24_576}

// cut has the keywords that are removed from schemas.
var cut = protocol.Cut{Top: []string{"anyOf", "oneOf", "allOf"}}

// request returns the body for req.
func (g *Generator) request(req *engine.Request) (*request, error) {
	c := protocol.Config(req)
	lacks := g.refused.Lacks(g.provider, req.Model)
	r := &request{Model: req.Model, MaxTokens: c.MaxOutputTokens, Messages: g.messages(req), Stop: c.StopSequences, Stream: true}
	if r.MaxTokens == 0 {
		if r.MaxTokens = longAnswer; lacks(model.Thinking) {
			r.MaxTokens = shortAnswer
		}
	}
	if system := protocol.System(c, g.client.Redact); system != "" {
		r.System = []block{{Type: "text", Text: system, Cache: ephemeral}}
	}
	if err := r.addTools(c, lacks(model.Tools)); err != nil {
		return nil, err
	}
	effort := protocol.Effort(c)
	if effort != "" && !lacks(model.Effort) {
		r.OutputConfig = &outputConfig{effort}
	}
	if !req.OneShot && !r.formed && (r.ToolChoice == nil || r.ToolChoice.Type == "none") {
		r.think(effort, lacks)
	}
	if r.Thinking == nil && !lacks(model.Temperature) {
		r.Temperature, r.TopP, r.TopK = c.Temperature, c.TopP, c.TopK
	}
	r.mark()
	return r, nil
}

// think sets thinking in the model's form.
func (r *request) think(effort string, lacks func(string) bool) {
	budget := min(budgets[effort], int(r.MaxTokens)/2)
	switch {
	case lacks(model.Thinking):
	case !lacks(model.Adaptive):
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
	case budget >= 1024 && r.begun():
		r.Thinking = &thinking{Type: "enabled", Budget: budget}
	}
}

// begun reports whether a model with a thinking budget can think: within a turn, the turn must
// have begun with a thought of this model.
func (r *request) begun() bool {
	n := len(r.Messages)
	if n < 2 || !slices.ContainsFunc(r.Messages[n-1].Content, func(b block) bool { return b.Type == "tool_result" }) {
		return true
	}
	said := r.Messages[n-2].Content
	return len(said) > 0 && strings.HasSuffix(said[0].Type, "thinking")
}

func (r *request) addTools(c *genai.GenerateContentConfig, none bool) error {
	tools, err := protocol.Tools(c, cut)
	if err != nil {
		return err
	}
	schema, _, err := protocol.Schema(c, cut)
	if err != nil {
		return err
	}
	if schema != nil && len(tools) == 0 {
		r.Tools = []tool{{Name: "answer", Description: "Gives the answer.", Schema: schema}}
		r.ToolChoice, r.formed = &toolChoice{"tool", "answer"}, true
		return nil
	}
	if none {
		return nil
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	switch how, names := protocol.ToolChoice(c); {
	case len(tools) == 0:
	case how == "any" && len(names) == 1:
		r.ToolChoice = &toolChoice{"tool", names[0]}
	case how != "auto":
		r.ToolChoice = &toolChoice{Type: how}
	}
	return nil
}

// mark sets the breakpoints of the prompt cache.
func (r *request) mark() {
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Cache = ephemeral
	}
	marks := 2
	for _, m := range slices.Backward(r.Messages) {
		if n := len(m.Content); m.Role == "user" && n > 0 && marks > 0 {
			m.Content[n-1].Cache = ephemeral
			marks--
		}
	}
}

// messages returns the conversation, which begins with a message of the user.
func (g *Generator) messages(req *engine.Request) (all []message) {
	lacks := g.refused.Lacks(g.provider, req.Model)
	for _, said := range protocol.Contents(req, g.client.Redact) {
		m := message{Role: "user", Content: g.user(said, lacks)}
		if said.Role == genai.RoleModel {
			m = message{Role: "assistant", Content: g.assistant(said)}
		}
		switch n := len(all); {
		case len(m.Content) == 0:
		case n > 0 && all[n-1].Role == m.Role:
			all[n-1].Content = append(all[n-1].Content, m.Content...)
		case n == 0 && m.Role == "assistant":
			all = append(all, message{Role: "user", Content: []block{{Type: "text", Text: "(The conversation goes on.)"}}}, m)
		default:
			all = append(all, m)
		}
	}
	return all
}

// assistant converts a message of the model.
func (g *Generator) assistant(said *genai.Content) (all []block) {
	for _, p := range said.Parts {
		switch {
		case p == nil:
		case p.Thought:
			by, own := engine.SignedBy(p.ThoughtSignature)
			kind, signature := "", ""
			if by == g.provider.Name && len(own) > 2 {
				kind, signature = string(own[:2]), string(own[2:])
			}
			switch kind {
			case signed:
				thought := p.Text
				all = append(all, block{Type: "thinking", Thinking: &thought, Signature: signature})
			case redacted:
				all = append(all, block{Type: "redacted_thinking", Data: signature})
			}
		case p.FunctionCall != nil:
			args := input(p.FunctionCall.Args)
			if args == nil {
				args = input{}
			}
			all = append(all, block{Type: "tool_use", ID: protocol.ID(p.FunctionCall.ID, g.provider.IDs), Name: protocol.Name(p.FunctionCall.Name), Input: &args})
		case p.InlineData != nil || p.FileData != nil:
			all = append(all, block{Type: "text", Text: protocol.DescribeFile(p)})
		case strings.TrimSpace(p.Text+engine.CodeText(p)) != "":
			all = append(all, block{Type: "text", Text: p.Text + engine.CodeText(p)})
		}
	}
	return all
}

// user converts a message of the user: answers to calls first, then the rest.
func (g *Generator) user(said *genai.Content, lacks func(string) bool) []block {
	var results, rest []block
	answers, others := protocol.Results(said)
	for _, r := range answers {
		results = append(results, block{Type: "tool_result", ToolUseID: protocol.ID(r.ID, g.provider.IDs), Content: r.Text, IsError: r.Failed})
	}
	for _, p := range others {
		switch {
		case p.InlineData != nil || p.FileData != nil:
			rest = append(rest, asBlock(p, lacks))
		case strings.TrimSpace(p.Text) != "":
			rest = append(rest, block{Type: "text", Text: p.Text})
		}
	}
	return append(results, rest...)
}

// kinds are the features for blocks of files, by type.
var kinds = map[string]string{"image": model.Images, "document": model.PDF}

// asBlock returns a file as a block, or a description if the model lacks the feature.
func asBlock(p *genai.Part, lacks func(string) bool) block {
	kind := ""
	switch {
	case protocol.IsImage(p):
		kind = "image"
	case p.InlineData != nil && p.InlineData.MIMEType == "application/pdf":
		kind = "document"
	}
	if kind == "" || lacks(kinds[kind]) {
		return block{Type: "text", Text: protocol.DescribeFile(p)}
	}
	return block{Type: kind, Source: &source{"base64", p.InlineData.MIMEType, p.InlineData.Data}}
}

// refusable returns the features in the request that the model may refuse.
func (r *request) refusable() (all []string) {
	if len(r.Tools) > 0 && !r.formed {
		all = append(all, model.Tools)
	}
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if kind := kinds[b.Type]; kind != "" {
				all = append(all, kind)
			}
		}
	}
	return all
}
