package protocol

import (
	"cmp"
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// An Answer converts a stream to chunks.
type Answer struct {
	emit     func(*genai.GenerateContentResponse) error
	provider string
	asked    *engine.Request
	tools    []Tool // tools that may be called as text; empty to ignore such calls

	version string // the answering model, with its provider
	tags    tags
	held    strings.Builder
	free    bool // text is no longer held back
	calls   []*call
	thought bool // a thought is unsigned
	size    int  // size of the text in bytes
	usage   *genai.GenerateContentResponseUsageMetadata
}

// A call is an incomplete call.
type call struct {
	index    int
	id, name string
	args     strings.Builder
	bare     bool // a piece came without the name
}

// complete reports whether the arguments are complete.
func (c *call) complete() bool {
	s := strings.TrimRight(c.args.String(), space)
	return strings.HasSuffix(s, "}") && json.Valid([]byte(s))
}

// NewAnswer returns the Answer to a request, from provider. If tools is not empty, calls in the
// text are recognized.
func NewAnswer(req *engine.Request, provider string, tools []Tool, emit func(*genai.GenerateContentResponse) error) *Answer {
	return &Answer{emit: emit, provider: provider, asked: req, tools: tools, free: len(tools) == 0, version: provider + "/" + req.Model}
}

// Model sets the answering model. A version of the requested model keeps the requested name.
func (a *Answer) Model(name string) {
	if name != "" && !strings.HasPrefix(name, a.asked.Model) {
		a.version = a.provider + "/" + name
	}
}

// Part emits one part.
func (a *Answer) Part(p *genai.Part) error {
	a.size += len(p.Text)
	return a.emit(a.chunk("", p))
}

func (a *Answer) chunk(finish genai.FinishReason, parts ...*genai.Part) *genai.GenerateContentResponse {
	c := &struct { // one allocation, since there are many
		response   genai.GenerateContentResponse
		candidate  genai.Candidate
		content    genai.Content
		candidates [1]*genai.Candidate
	}{}
	c.content = genai.Content{Role: genai.RoleModel, Parts: parts}
	c.candidate = genai.Candidate{Content: &c.content, FinishReason: finish}
	c.candidates[0] = &c.candidate
	c.response = genai.GenerateContentResponse{ModelVersion: a.version, Candidates: c.candidates[:]}
	return &c.response
}

// Thought adds a piece of a thought.
func (a *Answer) Thought(s string) error {
	if s == "" {
		return nil
	}
	a.thought = true
	return a.Part(&genai.Part{Text: s, Thought: true})
}

// Sign ends a thought that must be sent back to the provider. Own is the provider's signature.
func (a *Answer) Sign(own string) error {
	a.thought = false
	return a.Part(&genai.Part{Thought: true, ThoughtSignature: engine.Sign(a.provider, []byte(own))})
}

// Thinking reports whether a thought is unsigned.
func (a *Answer) Thinking() bool { return a.thought }

// Text adds a piece of text, which is held back while it may be a call. A thought between tags at
// its beginning is separated.
func (a *Answer) Text(s string) error {
	if a.tags.read != saying {
		var thought string
		thought, s = a.tags.split(s)
		if err := a.Thought(thought); err != nil {
			return err
		}
	}
	if said, rest, closed := strings.Cut(s, closeThought); closed && len(a.tools) > 0 && (a.free || !maybeCall(a.held.String()+said)) {
		// A thought may begin in the prompt, as Qwen's do, with calls after it.
		a.held.WriteString(said + closeThought)
		if err := a.release(); err != nil {
			return err
		}
		a.free, s = false, rest
	}
	if s == "" {
		return nil
	}
	if a.free {
		return a.Part(&genai.Part{Text: s})
	}
	a.held.WriteString(s)
	if a.held.Len() < 64<<10 && maybeCall(a.held.String()) {
		return nil
	}
	return a.release()
}

// untag adds text that was held back as the possible beginning of a tag.
func (a *Answer) untag() error {
	rest := a.tags.partial
	a.tags.partial = ""
	if a.tags.read == thinking {
		return a.Thought(rest)
	}
	a.tags.read = saying
	return a.Text(rest)
}

func (a *Answer) release() error {
	a.free = true
	if a.held.Len() == 0 {
		return nil
	}
	s := a.held.String()
	a.held.Reset()
	return a.Part(&genai.Part{Text: s})
}

// Call adds a piece of the call at an index. An index below 0 means the last call, if the piece
// has no name or continues that call, and otherwise a new call.
func (a *Answer) Call(index int, id, name, args string) {
	i := len(a.calls) - 1
	for i >= 0 && (index < 0 || a.calls[i].index != index) {
		i--
	}
	if last := len(a.calls) - 1; index < 0 && last >= 0 {
		if c := a.calls[last]; name == "" || name == c.name && (id == "" || id == c.id) && !c.complete() {
			i = last
		}
	}
	switch {
	case i >= 0 && id != "" && name != "" && a.calls[i].id != "" && a.calls[i].id != id: // the server gives all calls the first index
		i = -1
	case i >= 0 && name != "" && a.calls[i].name != "" && (id == "" || a.calls[i].id == "") && a.calls[i].complete() &&
		(strings.HasPrefix(args, "{") || args == "" && (a.calls[i].bare || a.calls[i].name != name)): // or it gives no ids
		if a.calls[i].name == name && a.calls[i].args.String() == args {
			return // a repetition, with which some servers end a stream, is ignored
		}
		i = -1
	}
	if i < 0 {
		i = len(a.calls)
		a.calls = append(a.calls, &call{index: index})
	}
	c := a.calls[i]
	c.id = cmp.Or(id, c.id)
	if name != "" && c.name != name { // some servers repeat it in every piece
		c.name += name
	}
	c.bare = c.bare || name == ""
	c.args.WriteString(args)
	a.size += len(args)
}

// Usage sets the tokens of the request: the prompt, its cached part, the answer, and the
// thoughts.
func (a *Answer) Usage(prompt, cached, output, thoughts Count) {
	n := func(i Count) int32 { return int32(max(0, min(i, 1<<30))) }
	a.usage = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: n(prompt), CachedContentTokenCount: n(cached),
		CandidatesTokenCount: n(output - thoughts), ThoughtsTokenCount: n(thoughts), TotalTokenCount: n(prompt + output)}
}

// Refused ends the answer of a server that refuses to answer.
func (a *Answer) Refused(why string) error {
	if err := a.untag(); err != nil {
		return err
	}
	if err := a.release(); err != nil {
		return err
	}
	return a.emit(&genai.GenerateContentResponse{UsageMetadata: a.usage, PromptFeedback: &genai.GenerateContentResponsePromptFeedback{
		BlockReason: "REFUSAL", BlockReasonMessage: why}})
}

// End ends the answer. If the server sent no token counts, they are estimated.
func (a *Answer) End(finish genai.FinishReason) error {
	if err := a.untag(); err != nil {
		return err
	}
	var parts []*genai.Part
	why := ""
	if len(a.calls) == 0 {
		for _, fc := range textCalls(a.held.String(), a.tools) {
			fc.Name = a.declared(fc.Name)
			parts = append(parts, &genai.Part{FunctionCall: fc})
			a.held.Reset()
		}
	}
	if err := a.release(); err != nil {
		return err
	}
	for _, c := range a.calls {
		args, ok := arguments(c.args.String())
		if cut := finish == genai.FinishReasonMaxTokens && c.args.Len() == 0; cut || !ok || c.name == "" {
			parts, why = nil, "the arguments of "+c.name+" are no JSON object"
			if finish != genai.FinishReasonMaxTokens {
				finish = genai.FinishReasonMalformedFunctionCall
			}
			break
		}
		parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.id, Name: a.declared(c.name), Args: args}})
	}
	last := a.chunk(finish, parts...)
	last.Candidates[0].FinishMessage = why
	if last.UsageMetadata = a.usage; a.usage == nil {
		a.Usage(Count(engine.Estimate(a.asked.Contents)), 0, Count(a.size/4), 0)
		last.UsageMetadata = a.usage
	}
	return a.emit(last)
}

// declared returns a tool's own name for the name that [Name] gave the tool in the request.
func (a *Answer) declared(name string) string {
	for _, t := range Config(a.asked).Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if Name(d.Name) == name {
				return d.Name
			}
		}
	}
	return name
}

// arguments parses the arguments of a call. Some servers write them as a JSON string of JSON.
func arguments(s string) (args map[string]any, ok bool) {
	if inner := ""; json.Unmarshal([]byte(s), &inner) == nil {
		s = inner
	}
	if s = strings.TrimSpace(s); s == "" || s == "null" {
		return map[string]any{}, true
	}
	err := text.Unmarshal([]byte(s), &args)
	return args, err == nil && args != nil
}

// New adds a complete call.
func (a *Answer) New(id, name, args string) {
	c := &call{index: -1, id: id, name: name}
	c.args.WriteString(args)
	a.calls = append(a.calls, c)
	a.size += len(args)
}
