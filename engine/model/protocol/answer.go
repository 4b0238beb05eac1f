package protocol

import (
	"cmp"
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

// An Answer makes chunks of what a stream says.
type Answer struct {
	emit     func(*genai.GenerateContentResponse) error
	provider string
	asked    *engine.Request
	tools    []Tool // that may be called as text; none if no calls are looked for there

	version string // which model answers, with its provider
	tags    tags
	held    strings.Builder
	free    bool // text is no longer held
	calls   []*call
	thought bool // a thought is not signed yet
	size    int  // bytes that were said
	usage   *genai.GenerateContentResponseUsageMetadata
}

// A call is a call that is still coming in.
type call struct {
	index    int
	id, name string
	args     strings.Builder
	bare     bool // a piece came without the name
}

// complete reports whether the arguments have come to their end.
func (c *call) complete() bool {
	s := strings.TrimRight(c.args.String(), space)
	return strings.HasSuffix(s, "}") && json.Valid([]byte(s))
}

// NewAnswer returns the Answer to a request, from provider. Where tools are given, calls are
// looked for in the text.
func NewAnswer(req *engine.Request, provider string, tools []Tool, emit func(*genai.GenerateContentResponse) error) *Answer {
	return &Answer{emit: emit, provider: provider, asked: req, tools: tools, free: len(tools) == 0, version: provider + "/" + req.Model}
}

// Model says which model answers. A version of the requested model keeps the requested name.
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
	c := &struct { // in one piece, since there are many
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

// Thought takes in a piece of a thought.
func (a *Answer) Thought(s string) error {
	if s == "" {
		return nil
	}
	a.thought = true
	return a.Part(&genai.Part{Text: s, Thought: true})
}

// Sign ends a thought that goes back to the provider. Own is the provider's signature.
func (a *Answer) Sign(own string) error {
	a.thought = false
	return a.Part(&genai.Part{Thought: true, ThoughtSignature: engine.Sign(a.provider, []byte(own))})
}

// Thinking reports whether a thought is not signed.
func (a *Answer) Thinking() bool { return a.thought }

// Text takes in a piece of text, which is held while it may be a call. A thought that it
// begins with, between tags, is a thought.
func (a *Answer) Text(s string) error {
	if a.tags.read != saying {
		var thought string
		thought, s = a.tags.split(s)
		if err := a.Thought(thought); err != nil {
			return err
		}
	}
	if said, rest, closed := strings.Cut(s, closeThought); closed && len(a.tools) > 0 && (a.free || !maybeCall(a.held.String()+said)) {
		// A thought may begin in the prompt, as Qwen's do, and calls stand behind it.
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

// untag takes in text that was held as the possible beginning of a tag.
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

// Call takes in a piece of the call at an index; an index below 0 is that of the last call, if the
// piece has no name or the last call goes on in it, and else of a new one.
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
	case i >= 0 && id != "" && name != "" && a.calls[i].id != "" && a.calls[i].id != id: // a server that counts all as the first
		i = -1
	case i >= 0 && name != "" && a.calls[i].name != "" && (id == "" || a.calls[i].id == "") && a.calls[i].complete() &&
		(strings.HasPrefix(args, "{") || args == "" && (a.calls[i].bare || a.calls[i].name != name)): // or that gives no ids
		if a.calls[i].name == name && a.calls[i].args.String() == args {
			return // the same once more, as some servers end a stream: it is done once
		}
		i = -1
	}
	if i < 0 {
		i = len(a.calls)
		a.calls = append(a.calls, &call{index: index})
	}
	c := a.calls[i]
	c.id = cmp.Or(id, c.id)
	if name != "" && c.name != name { // some servers say it with every piece
		c.name += name
	}
	c.bare = c.bare || name == ""
	c.args.WriteString(args)
	a.size += len(args)
}

// Usage says how many tokens the request took: of its prompt, of which some may have been read
// from a cache, and of the answer with its thoughts.
func (a *Answer) Usage(prompt, cached, output, thoughts Count) {
	n := func(i Count) int32 { return int32(max(0, min(i, 1<<30))) }
	a.usage = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: n(prompt), CachedContentTokenCount: n(cached),
		CandidatesTokenCount: n(output - thoughts), ThoughtsTokenCount: n(thoughts), TotalTokenCount: n(prompt + output)}
}

// Refused ends the answer of a server that will not answer.
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

// End ends the answer. Without a word of the server's, the tokens are guessed.
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

// arguments reads the arguments of a call. Some servers write them as JSON in JSON.
func arguments(s string) (args map[string]any, ok bool) {
	if inner := ""; json.Unmarshal([]byte(s), &inner) == nil {
		s = inner
	}
	if s = strings.TrimSpace(s); s == "" || s == "null" {
		return map[string]any{}, true
	}
	err := json.Unmarshal([]byte(s), &args)
	return args, err == nil && args != nil
}

// New takes in a whole call.
func (a *Answer) New(id, name, args string) {
	c := &call{index: -1, id: id, name: name}
	c.args.WriteString(args)
	a.calls = append(a.calls, c)
	a.size += len(args)
}
