package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
)

// Generator returns a Generator around g: hooks see each request of the conversation
// and each piece of its answer. Requests beside the conversation pass as they are. It belongs
// below a Generator that repeats requests: hooks see each attempt.
func (h *Hooks) Generator(g engine.Generator) engine.Generator {
	if !h.any(BeforeAgent, BeforeModel, AfterModel, BeforeToolSelection, BeforeTool, AfterTool) {
		return g
	}
	return generator{g, h}
}

type generator struct {
	engine.Generator
	hooks *Hooks
}

// Generate implements [engine.Generator].
func (g generator) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	if req.OneShot {
		return g.Generator.Generate(ctx, req)
	}
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		h := g.hooks
		if err := h.ending(); err != nil {
			yield(nil, err)
			return
		}
		asked, answer, err := h.beforeModel(ctx, req)
		if answer != nil {
			yield(answer, nil)
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		sent := newModelRequest(asked)
		for chunk, err := range g.Generator.Generate(ctx, asked) {
			if err == nil && h.any(AfterModel) {
				chunk, err = h.afterModel(ctx, sent, chunk)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// beforeModel returns the request to make in place of req, or the hooks' answer without a
// request.
func (h *Hooks) beforeModel(
	ctx context.Context, req *engine.Request,
) (asked *engine.Request, answer *genai.GenerateContentResponse, err error) {
	asked = req
	sent := newModelRequest(req)
	a := h.fire(ctx, BeforeModel, "", fields{{"llm_request", sent}})
	if a.Stop {
		return nil, nil, &end{stopped: true, why: a.Why()}
	}
	response, _ := parseResponse(a.object("llm_response"))
	if a.Decision == block {
		e := &end{why: a.Why()}
		if response == nil {
			return nil, nil, e
		}
		h.notices.warn("%s", e)
	}
	if response != nil {
		for _, c := range response.Candidates {
			c.FinishReason = cmp.Or(c.FinishReason, genai.FinishReasonStop)
		}
		return nil, response, nil
	}
	if changes := a.object("llm_request"); changes != nil {
		sent, _ = sent.with(changes)
		asked = sent.apply(req)
	}
	s := h.fire(ctx, BeforeToolSelection, "", fields{{"llm_request", sent}})
	if mode, ok := s.Specific["mode"].(string); ok && len(asked.Config.Tools) > 0 {
		next := *asked
		config := *next.Config
		names, _ := s.Specific["names"].([]string)
		if mode == "AUTO" && len(names) > 0 { // the API refuses names in this mode
			config.Tools, names = only(config.Tools, names), nil
		}
		config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{
			Mode: genai.FunctionCallingConfigMode(mode), AllowedFunctionNames: names}}
		if len(config.Tools) == 0 { // the API refuses a ToolConfig without tools
			config.ToolConfig = nil
		}
		next.Config, asked = &config, &next
	}
	return asked, nil, ctx.Err()
}

// only returns tools with only the functions in names.
func only(tools []*genai.Tool, names []string) (left []*genai.Tool) {
	for _, t := range tools {
		next := *t
		next.FunctionDeclarations = nil
		for _, f := range t.FunctionDeclarations {
			if slices.Contains(names, f.Name) {
				next.FunctionDeclarations = append(next.FunctionDeclarations, f)
			}
		}
		if len(next.FunctionDeclarations) > 0 || len(t.FunctionDeclarations) == 0 {
			left = append(left, &next)
		}
	}
	return left
}

// afterModel returns a piece of the answer as hooks have changed it.
func (h *Hooks) afterModel(
	ctx context.Context, sent modelRequest, chunk *genai.GenerateContentResponse,
) (*genai.GenerateContentResponse, error) {
	a := h.fire(ctx, AfterModel, "", fields{{"llm_request", sent}, {"llm_response", newModelResponse(chunk)}})
	if a.Stop || a.Decision == block {
		return nil, &end{stopped: a.Stop, why: a.Why()}
	}
	if other, _ := parseResponse(a.object("llm_response")); other != nil {
		out := *chunk
		out.Candidates = other.Candidates
		for i, c := range out.Candidates {
			if i >= len(chunk.Candidates) {
				break
			}
			if was := chunk.Candidates[i].Content; was != nil { // keep the calls and thoughts
				c.Content = withText(was, engine.TextOf(c.Content.Parts))
			}
			c.FinishReason = cmp.Or(c.FinishReason, chunk.Candidates[i].FinishReason)
			c.ContinuationToken = chunk.Candidates[i].ContinuationToken
		}
		return &out, nil
	}
	return chunk, nil
}

// A modelRequest is a request in the form for hooks: its texts, without tools and system
// instruction.
type modelRequest struct {
	Model    string         `json:"model"`
	Messages []modelMessage `json:"messages"`
	Config   modelConfig    `json:"config"`
}

type modelMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type modelConfig struct {
	Temperature     *float32 `json:"temperature,omitempty"`
	MaxOutputTokens int32    `json:"maxOutputTokens,omitempty"`
	TopP            *float32 `json:"topP,omitempty"`
	TopK            *float32 `json:"topK,omitempty"`
}

func newModelRequest(req *engine.Request) modelRequest {
	m := modelRequest{Model: req.Model, Messages: []modelMessage{}}
	for _, c := range req.Contents {
		if text := engine.TextOf(c.Parts); text != "" {
			m.Messages = append(m.Messages, modelMessage{c.Role, text})
		}
	}
	if c := req.Config; c != nil {
		m.Config = modelConfig{c.Temperature, c.MaxOutputTokens, c.TopP, c.TopK}
	}
	return m
}

// with returns m with the changes of a hook. An invalid value is dropped, and ok is false.
func (m modelRequest) with(changes map[string]any) (changed modelRequest, ok bool) {
	ok = true
	decode := func(name string, into any) bool {
		b, err := json.Marshal(changes[name])
		fits := err == nil && json.Unmarshal(b, into) == nil
		ok = ok && fits
		return changes[name] != nil && fits
	}
	var next modelRequest
	if decode("model", &next.Model) {
		m.Model = next.Model
	}
	if decode("messages", &next.Messages) {
		m.Messages = next.Messages
	}
	if c := &next.Config; decode("config", c) {
		m.Config = modelConfig{cmp.Or(c.Temperature, m.Config.Temperature),
			cmp.Or(c.MaxOutputTokens, m.Config.MaxOutputTokens),
			cmp.Or(c.TopP, m.Config.TopP), cmp.Or(c.TopK, m.Config.TopK)}
	}
	return m, ok
}

// apply returns req with the texts of m in place of the messages' own. Messages that m lacks are
// dropped, and further messages of m are appended.
func (m modelRequest) apply(req *engine.Request) *engine.Request {
	out := *req
	out.Model = cmp.Or(m.Model, req.Model)
	config := genai.GenerateContentConfig{}
	if req.Config != nil {
		config = *req.Config
	}
	config.Temperature, config.MaxOutputTokens = m.Config.Temperature, m.Config.MaxOutputTokens
	config.TopP, config.TopK = m.Config.TopP, m.Config.TopK
	out.Config = &config
	out.Contents = nil
	left, texts := m.Messages, len(newModelRequest(req).Messages)
	dropping := false
	for _, c := range req.Contents {
		text := engine.TextOf(c.Parts)
		if text == "" {
			if !dropping { // otherwise drop the calls of a dropped message, and their answers
				out.Contents = append(out.Contents, c)
			}
			continue
		}
		same := len(left) > 0 && left[0] == modelMessage{c.Role, text}
		gone := !same && texts > len(left)
		texts--
		if dropping { // the answers in it belong to dropped calls
			c = &genai.Content{Role: c.Role, Parts: slices.DeleteFunc(slices.Clone(c.Parts),
				func(p *genai.Part) bool { return p.FunctionResponse != nil })}
		}
		switch dropping = gone && !engine.HasAnswers(c); {
		case dropping:
			continue
		case gone:
			c = withText(c, "")
		case !same:
			c = withText(c, left[0].Content)
		}
		if out.Contents = append(out.Contents, c); !gone {
			left = left[1:]
		}
	}
	for _, more := range left {
		role := genai.Role(genai.RoleUser)
		if more.Role == genai.RoleModel {
			role = genai.RoleModel
		}
		out.Contents = append(out.Contents, genai.NewContentFromText(more.Content, role))
	}
	return &out
}

// withText returns c with text in the place of its first text, or at the beginning if c has none,
// and without further texts.
func withText(c *genai.Content, text string) *genai.Content {
	out := &genai.Content{Role: c.Role}
	for _, p := range c.Parts {
		switch {
		case p.Text == "" || p.Thought:
			out.Parts = append(out.Parts, p)
		case text != "":
			out.Parts = append(out.Parts, genai.NewPartFromText(text))
			text = ""
		}
	}
	if text != "" { // c had no text
		out.Parts = slices.Insert(out.Parts, 0, genai.NewPartFromText(text))
	}
	return out
}

// A modelResponse is an answer, or a piece of an answer, in the form for hooks.
type modelResponse struct {
	Text       string           `json:"text,omitempty"`
	Candidates []modelCandidate `json:"candidates"`
	Usage      *modelUsage      `json:"usageMetadata,omitempty"`
}

type modelCandidate struct {
	Content struct {
		Role  string     `json:"role"`
		Parts modelParts `json:"parts"`
	} `json:"content"`
	FinishReason string        `json:"finishReason,omitempty"`
	Index        int32         `json:"index"`
	Safety       []modelSafety `json:"safetyRatings,omitempty"`
}

// modelParts are the texts of an answer. A hook may write a text as a part of the API.
type modelParts []string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *modelParts) UnmarshalJSON(b []byte) error {
	var all []any
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for _, v := range all {
		if part, is := v.(map[string]any); is {
			v = part["text"]
		}
		text, is := v.(string)
		if !is {
			return errors.New("a part has no text")
		}
		*p = append(*p, text)
	}
	return nil
}

type modelSafety struct {
	Category    string `json:"category"`
	Probability string `json:"probability"`
}

type modelUsage struct {
	Prompt int32 `json:"promptTokenCount"`
	Output int32 `json:"candidatesTokenCount"`
	Total  int32 `json:"totalTokenCount"`
}

func newModelResponse(chunk *genai.GenerateContentResponse) modelResponse {
	m := modelResponse{Candidates: []modelCandidate{}}
	for _, c := range chunk.Candidates {
		out := modelCandidate{FinishReason: string(c.FinishReason), Index: c.Index}
		out.Content.Role, out.Content.Parts = genai.RoleModel, []string{}
		if c.Content != nil {
			for _, p := range c.Content.Parts {
				if p != nil && p.Text != "" && !p.Thought {
					out.Content.Parts = append(out.Content.Parts, p.Text)
					m.Text += p.Text
				}
			}
		}
		for _, s := range c.SafetyRatings {
			out.Safety = append(out.Safety, modelSafety{string(s.Category), string(s.Probability)})
		}
		m.Candidates = append(m.Candidates, out)
	}
	if u := chunk.UsageMetadata; u != nil {
		m.Usage = &modelUsage{u.PromptTokenCount, u.CandidatesTokenCount, u.TotalTokenCount}
	}
	return m
}

// parseResponse returns the answer in a hook's output, nil if it has no part, and reports whether
// it is valid.
func parseResponse(object map[string]any) (answer *genai.GenerateContentResponse, ok bool) {
	var m modelResponse
	b, err := json.Marshal(object)
	if err != nil || json.Unmarshal(b, &m) != nil {
		return nil, false
	}
	if len(m.Candidates) == 0 && m.Text != "" {
		m.Candidates = make([]modelCandidate, 1)
		m.Candidates[0].Content.Parts = []string{m.Text}
	}
	out := &genai.GenerateContentResponse{}
	for _, c := range m.Candidates {
		content := &genai.Content{Role: genai.RoleModel}
		for _, text := range c.Content.Parts {
			content.Parts = append(content.Parts, genai.NewPartFromText(text))
		}
		if len(content.Parts) == 0 {
			continue
		}
		out.Candidates = append(out.Candidates, &genai.Candidate{Content: content,
			FinishReason: genai.FinishReason(c.FinishReason), Index: c.Index})
	}
	if len(out.Candidates) == 0 {
		return nil, true
	}
	if u := m.Usage; u != nil {
		out.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: u.Prompt,
			CandidatesTokenCount: u.Output, TotalTokenCount: u.Total}
	}
	return out, true
}
