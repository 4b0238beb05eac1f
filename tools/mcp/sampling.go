package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// A Sampling is a server's request to the model.
type Sampling struct {
	Server      string
	System      string
	Messages    []*genai.Content
	MaxTokens   int      // tokens of the answer, 0 if the server does not say
	Temperature float64  // likewise
	Stop        []string // stop sequences
}

// An Answer is the model's answer to a Sampling.
type Answer struct {
	Text, Model string
	Cut         bool // it was shortened
}

const (
	mostMessages = 100
	mostStops    = 5 // the API's limit
)

// readSampling reads the request of a server.
func readSampling(server string, params json.RawMessage) (s Sampling, err error) {
	var p protocol.CreateMessageParams
	if err := rpc.Decode(params, &p); err != nil {
		return s, err
	}
	if len(p.Tools) > 0 {
		return s, errors.New("the model has no tools for servers")
	}
	s = Sampling{Server: server, System: p.SystemPrompt, MaxTokens: max(p.MaxTokens, 0), Temperature: p.Temperature,
		Stop: p.StopSequences[:min(len(p.StopSequences), mostStops)]}
	for _, m := range p.Messages {
		blocks, several := m.Content.([]any)
		if !several {
			blocks = []any{m.Content}
		}
		rd := reading{tool: "sampling"}
		for _, b := range blocks {
			raw, _ := json.Marshal(b)
			c, err := readContent(raw)
			if err != nil {
				return s, err
			}
			rd.block(c)
		}
		words := genai.NewPartFromText(strings.Join(rd.plain, "\n"))
		c := genai.NewContentFromParts(append([]*genai.Part{words}, rd.media...), genai.RoleUser)
		if m.Role == protocol.RoleAssistant {
			c.Role = genai.RoleModel
		}
		s.Messages = append(s.Messages, c)
	}
	switch n := len(s.Messages); {
	case n == 0:
		return s, errors.New("no messages")
	case n > mostMessages:
		return s, fmt.Errorf("more than %d messages", mostMessages)
	}
	return s, nil
}

// samplingName is the name of sampling in rules. It is no name of a server's tool, so that
// rules about tools do not match sampling.
const samplingName = "mcp_sampling"

// samplingSchema is the schema of the arguments that rules can match.
var samplingSchema = json.RawMessage(`{"type":"object","properties":{"server":{"type":"string"}}}`)

// put asks the model, if rules or the user allow it.
func (s Sampling) put(ctx context.Context, r *running) (any, error) {
	refused := rpc.Errorf(rpc.Refused, "the user does not have the model answer this")
	if r.in.Answer == nil || r.in.Policy == nil {
		return nil, refused
	}
	shown := text.PrintableLine(s.Server)
	t := engine.Tool{Label: "Sampling",
		Declaration: &genai.FunctionDeclaration{Name: samplingName, ParametersJsonSchema: samplingSchema}}
	t.Prepare = func(context.Context, map[string]any) (engine.Call, error) {
		return engine.Call{Intent: engine.Intent{Title: "have the model answer the MCP server " + shown,
			Detail: "have the model answer this, beside the conversation; the MCP server " + shown +
				" gets the answer:\n" + s.words()}}, nil
	}
	p := engine.Proposal{Tool: t, Args: map[string]any{"server": s.Server}}
	settled, err := engine.Authorize(ctx, p, r.in.Policy, r.host, func() error { return nil })
	if err != nil {
		return nil, err
	}
	if settled.Err != nil {
		if ce := (*engine.CallError)(nil); errors.As(settled.Err, &ce) { // else the user has refused and knows
			r.host.Emit(engine.Notice{Text: "the MCP server " + shown + " wanted the model to answer: " + ce.Display})
		}
		return nil, refused
	}
	a, err := r.in.Answer(ctx, r.host, s)
	if err != nil {
		r.host.Emit(engine.Notice{Text: "the MCP server " + shown + " gets no answer of the model: " +
			text.OneLine(err.Error(), longestError)})
		return nil, rpc.Errorf(protocol.INTERNAL_ERROR, "the model has not answered") // the server must not see the reason
	}
	stop := "endTurn"
	if a.Cut {
		stop = "maxTokens"
	}
	said := protocol.SamplingMessage{Role: protocol.RoleAssistant, Content: protocol.NewTextContent(a.Text)}
	return protocol.CreateMessageResult{SamplingMessage: said, Model: a.Model, StopReason: stop}, nil
}

// words returns the full text of the request to the model.
func (s Sampling) words() string {
	var b strings.Builder
	if s.System != "" {
		b.WriteString("instruction: " + clean(s.System, mostInstructions) + "\n")
	}
	for _, c := range s.Messages {
		for _, p := range c.Parts {
			if p.Text != "" {
				b.WriteString(c.Role + ": " + clean(p.Text, mostInstructions) + "\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
