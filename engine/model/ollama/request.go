package ollama

import (
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/protocol"
)

// A request is the body of an HTTP request.
type request struct {
	Model    string              `json:"model"`
	Messages []message           `json:"messages"`
	Stream   bool                `json:"stream"`
	Tools    []protocol.Function `json:"tools,omitempty"`
	Format   any                 `json:"format,omitempty"`
	Think    any                 `json:"think,omitempty"`
	Options  options             `json:"options"`
}

type options struct {
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int32    `json:"num_predict,omitempty"`
	Temperature *float32 `json:"temperature,omitempty"`
	TopP        *float32 `json:"top_p,omitempty"`
	TopK        *float32 `json:"top_k,omitempty"`
	Seed        *int32   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"function"`
}

// request returns the body for req, and the tools that may be called as text.
func (g *Generator) request(req *engine.Request, about *About) (*request, []protocol.Tool, error) {
	c := protocol.Config(req)
	r := &request{Model: req.Model, Stream: !req.OneShot, Options: options{NumPredict: c.MaxOutputTokens, Temperature: c.Temperature,
		TopP: c.TopP, TopK: c.TopK, Seed: c.Seed, Stop: c.StopSequences}}
	tools, err := protocol.Tools(c, protocol.Cut{})
	if err != nil {
		return nil, nil, err
	}
	schema, asked, err := protocol.Schema(c, protocol.Cut{})
	if err != nil {
		return nil, nil, err
	}
	if schema != nil {
		r.Format = schema
	} else if asked {
		r.Format = "json"
	}
	lacks := g.refused.Lacks(g.provider, req.Model)
	if len(tools) > 0 && (!about.Can("tools") || lacks(model.Tools)) {
		tools = nil
		g.refused.Add(g.provider, req, model.Tools)
	}
	if how, _ := protocol.ToolChoice(c); how == "none" {
		tools = nil
	}
	r.Tools = protocol.Functions(tools)
	if effort := protocol.Effort(c); effort != "" && about.Capabilities != nil && about.Can("thinking") {
		if r.Think = true; strings.Contains(req.Model, "gpt-oss") {
			r.Think = effort
		}
	}
	if system := protocol.System(c, g.client.Redact); system != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: system})
	}
	sees := about.Can("vision") && !lacks(model.Images)
	for _, said := range protocol.Contents(req, g.client.Redact) {
		if said.Role == genai.RoleModel {
			r.Messages = append(r.Messages, g.assistant(said))
		} else {
			r.Messages = append(r.Messages, user(said, sees)...)
		}
	}
	if r.Format != nil {
		tools = nil
	}
	return r, tools, nil
}

// assistant converts a message of the model.
func (g *Generator) assistant(said *genai.Content) message {
	m := message{Role: "assistant"}
	m.Thinking, _ = protocol.Thoughts(said, g.provider.Name)
	for _, p := range said.Parts {
		switch {
		case p == nil || p.Thought:
		case p.FunctionCall != nil:
			call := toolCall{ID: p.FunctionCall.ID}
			call.Function.Name, call.Function.Arguments = protocol.Name(p.FunctionCall.Name), p.FunctionCall.Args
			if call.Function.Arguments == nil {
				call.Function.Arguments = map[string]any{}
			}
			m.ToolCalls = append(m.ToolCalls, call)
		case p.InlineData != nil || p.FileData != nil:
			m.Content += protocol.DescribeFile(p)
		case engine.CodeText(p) != "":
			m.Content += engine.CodeText(p)
		default:
			m.Content += p.Text
		}
	}
	return m
}

// user converts a message of the user: answers to calls first, then the rest.
func user(said *genai.Content, sees bool) (all []message) {
	m := message{Role: "user"}
	var texts []string
	results, rest := protocol.Results(said)
	for _, r := range results {
		all = append(all, message{Role: "tool", Content: r.MarkedText(), ToolName: protocol.Name(r.Name), ToolCallID: r.ID})
	}
	for _, p := range rest {
		switch {
		case sees && protocol.IsImage(p) && p.InlineData.MIMEType != "image/gif":
			m.Images = append(m.Images, p.InlineData.Data)
		case p.InlineData != nil || p.FileData != nil:
			texts = append(texts, protocol.DescribeFile(p))
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	if m.Content = strings.Join(texts, "\n\n"); m.Content != "" || m.Images != nil {
		all = append(all, m)
	}
	return all
}
