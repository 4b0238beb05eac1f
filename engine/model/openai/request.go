package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/protocol"
	"gemline/engine/text"
)

// noThought is the thought of a message without thoughts. A server that requires thoughts refuses
// a message with none or an empty thought, even if another model wrote the message.
const noThought = " "

// A request is the body of an HTTP request.
type request struct {
	Model               string              `json:"model"`
	Messages            []message           `json:"messages"`
	Stream              bool                `json:"stream,omitempty"`
	StreamOptions       *streamOptions      `json:"stream_options,omitempty"`
	Tools               []protocol.Function `json:"tools,omitempty"`
	ToolChoice          any                 `json:"tool_choice,omitempty"`
	ResponseFormat      any                 `json:"response_format,omitempty"`
	MaxTokens           int32               `json:"max_tokens,omitempty"`
	MaxCompletionTokens int32               `json:"max_completion_tokens,omitempty"`
	Temperature         *float32            `json:"temperature,omitempty"`
	TopP                *float32            `json:"top_p,omitempty"`
	Seed                *int32              `json:"seed,omitempty"`
	Stop                []string            `json:"stop,omitempty"`
	ReasoningEffort     string              `json:"reasoning_effort,omitempty"`

	unsent unsent
}

// An unsent has the properties of a request that are not sent.
type unsent struct {
	tools     []protocol.Tool // tools that may be called as text
	refusable []string        // the features that the model may refuse
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// A message is a message of the conversation. The content is a text, a list of parts or nothing.
type message struct {
	Role             string          `json:"role"`
	Content          any             `json:"content"`
	ToolCalls        []toolCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *file     `json:"file,omitempty"`
	Audio    *audio    `json:"input_audio,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type file struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type audio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// request returns the body for req.
func (g *Generator) request(req *engine.Request) (*request, error) {
	c := protocol.Config(req)
	lacks := g.refused.Lacks(g.provider, req.Model)
	r := &request{Model: req.Model, Stream: !req.OneShot, TopP: c.TopP, Seed: c.Seed, Stop: c.StopSequences, Temperature: c.Temperature}
	if r.Stream && !lacks(model.StreamOptions) {
		r.StreamOptions = &streamOptions{true}
	}
	if lacks(model.Temperature) {
		r.Temperature, r.TopP = nil, nil
	}
	if lacks(model.MaxCompletionTokens) {
		r.MaxTokens = c.MaxOutputTokens
	} else {
		r.MaxCompletionTokens = c.MaxOutputTokens
	}
	if !lacks(model.Effort) {
		r.ReasoningEffort = protocol.Effort(c)
	}
	var cut protocol.Cut
	if lacks(model.Pattern) {
		cut.Keywords = []string{"pattern", "format"}
	}
	ofTools := cut
	if ofTools.Complete = lacks(model.LooseSchemas); ofTools.Complete {
		ofTools.Top = []string{"anyOf", "oneOf", "allOf", "not", "enum"}
	}
	if err := addTools(r, c, ofTools, lacks(model.Tools)); err != nil {
		return nil, err
	}
	if err := addFormat(r, c, cut, lacks(model.JSONSchema)); err != nil {
		return nil, err
	}
	if system := protocol.System(c, g.client.Redact); system != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: system})
	}
	for _, said := range protocol.Contents(req, g.client.Redact) {
		if said.Role == genai.RoleModel {
			r.Messages = append(r.Messages, g.assistant(r, said))
		} else {
			r.Messages = append(r.Messages, g.user(r, said, lacks)...)
		}
	}
	for i := len(r.Messages) - 1; i > 0; i-- {
		switch {
		case r.Messages[i-1].Role != "tool" || r.Messages[i].Role != "user":
		case lacks(model.UserAfterTool):
			r.Messages = slices.Insert(r.Messages, i, g.assistant(r, model.ToolsDone()))
		default:
			r.unsent.refusable = append(r.unsent.refusable, model.UserAfterTool)
		}
	}
	return r, nil
}

func addTools(r *request, c *genai.GenerateContentConfig, cut protocol.Cut, none bool) error {
	tools, err := protocol.Tools(c, cut)
	if err != nil {
		return err
	}
	if none || len(tools) == 0 {
		return nil
	}
	r.Tools, r.unsent.refusable = protocol.Functions(tools), append(r.unsent.refusable, model.Tools)
	if !cut.Complete {
		r.unsent.refusable = append(r.unsent.refusable, model.LooseSchemas)
	}
	switch how, names := protocol.ToolChoice(c); {
	case how == "any" && len(names) == 1:
		r.ToolChoice = map[string]any{"type": "function", "function": map[string]string{"name": names[0]}}
	case how == "any":
		r.ToolChoice = "required"
	case how == "none":
		r.ToolChoice = "none"
		return nil
	}
	r.unsent.tools = tools
	return nil
}

// addFormat requires JSON as the answer, so that it is no call.
func addFormat(r *request, c *genai.GenerateContentConfig, cut protocol.Cut, bare bool) error {
	schema, asked, err := protocol.Schema(c, cut)
	switch {
	case err != nil || !asked:
		return err
	case schema == nil || bare:
		r.ResponseFormat = map[string]any{"type": "json_object"}
	default:
		r.ResponseFormat = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": schema}}
	}
	r.unsent.tools = nil
	return nil
}

// assistant converts a message of the model for the request r.
func (g *Generator) assistant(r *request, said *genai.Content) message {
	m := message{Role: "assistant"}
	var words strings.Builder
	for _, p := range said.Parts {
		switch {
		case p == nil || p.Thought:
		case p.FunctionCall != nil:
			args := p.FunctionCall.Args
			if args == nil {
				args = map[string]any{}
			}
			m.ToolCalls = append(m.ToolCalls, toolCall{g.id(r, p.FunctionCall.ID), "function",
				function{protocol.Name(p.FunctionCall.Name), text.Compact(args)}})
		case p.InlineData != nil || p.FileData != nil:
			words.WriteString(protocol.DescribeFile(p))
		case engine.CodeText(p) != "":
			words.WriteString(engine.CodeText(p))
		default:
			words.WriteString(p.Text)
		}
	}
	thought, signatures := protocol.Thoughts(said, g.provider.Name)
	switch {
	case g.provider.Thoughts == model.ReasoningContent:
		m.ReasoningContent = cmp.Or(thought, noThought)
	case len(signatures) == 0:
	case g.provider.Thoughts == model.ReasoningDetails && json.Valid([]byte(signatures[0])):
		m.ReasoningDetails = json.RawMessage(signatures[0])
	}
	if words.Len() > 0 || m.ToolCalls == nil {
		m.Content = words.String()
	}
	return m
}

// id returns the id of a call in the server's form. Kimi's models need their own ids back, such
// as functions.f:0: otherwise they write calls as text after some turns.
func (g *Generator) id(r *request, id string) string {
	if strings.HasPrefix(id, "functions.") && strings.Contains(strings.ToLower(r.Model), "kimi") {
		return id
	}
	return protocol.ID(id, g.provider.IDs)
}

// kinds are the features for parts of files, by type.
var kinds = map[string]string{"image_url": model.Images, "file": model.PDF, "input_audio": model.Audio}

// user converts a message of the user for the request r: answers to calls first, then the rest.
func (g *Generator) user(r *request, said *genai.Content, lacks func(string) bool) (all []message) {
	var parts []part
	files := false
	results, rest := protocol.Results(said)
	for _, answer := range results {
		all = append(all, message{Role: "tool", ToolCallID: g.id(r, answer.ID), Content: answer.MarkedText()})
	}
	for _, p := range rest {
		if p.Text != "" || p.InlineData != nil || p.FileData != nil {
			made := asPart(p, lacks)
			if kind := kinds[made.Type]; kind != "" {
				files, r.unsent.refusable = true, append(r.unsent.refusable, kind)
			}
			parts = append(parts, made)
		}
	}
	switch {
	case files:
		return append(all, message{Role: "user", Content: parts})
	case len(parts) > 0:
		var texts []string
		for _, p := range parts {
			texts = append(texts, p.Text)
		}
		return append(all, message{Role: "user", Content: strings.Join(texts, "\n\n")})
	}
	return all
}

// asPart returns a part in the server's form, or a description if the model lacks the feature.
func asPart(p *genai.Part, lacks func(string) bool) part {
	if p.InlineData == nil {
		if p.FileData != nil {
			return part{Type: "text", Text: protocol.DescribeFile(p)}
		}
		return part{Type: "text", Text: p.Text}
	}
	mime := p.InlineData.MIMEType
	data := base64.StdEncoding.EncodeToString(p.InlineData.Data)
	url := fmt.Sprintf("data:%s;base64,%s", mime, data)
	switch {
	case protocol.IsImage(p) && !lacks(model.Images):
		return part{Type: "image_url", ImageURL: &imageURL{url}}
	case mime == "application/pdf" && !lacks(model.PDF):
		return part{Type: "file", File: &file{"document.pdf", url}}
	case (mime == "audio/wav" || mime == "audio/x-wav") && !lacks(model.Audio):
		return part{Type: "input_audio", Audio: &audio{data, "wav"}}
	case (mime == "audio/mpeg" || mime == "audio/mp3") && !lacks(model.Audio):
		return part{Type: "input_audio", Audio: &audio{data, "mp3"}}
	}
	return part{Type: "text", Text: protocol.DescribeFile(p)}
}
