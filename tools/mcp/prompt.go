package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine/lists"
	"gemline/engine/text"
)

// A Prompt is a server's text with placeholders.
type Prompt struct {
	Server      string                    `json:"-"`
	Name        string                    `json:"name"` // the server's
	Description string                    `json:"description,omitempty"`
	Arguments   []protocol.PromptArgument `json:"-"`
}

const mostArguments = 32

// takePrompts takes over the prompts of a server.
func (c *catalog) takePrompts(found []protocol.Prompt) {
	kept := []Prompt{}
	for _, p := range taken(found, func(p protocol.Prompt) string { return p.Name }) {
		if p.Name == "" || len(p.Name) > mostAddress || len(p.Arguments) > mostArguments {
			continue
		}
		for i, a := range p.Arguments {
			p.Arguments[i].Description = cleanLine(a.Description, longestError)
		}
		kept = append(kept, Prompt{c.server.Name, p.Name, cleanLine(p.Description, longestError), p.Arguments})
	}
	c.set(func() { c.prompts = kept })
}

// Prompts returns the prompts of all servers that are connected.
func (s *Set) Prompts() (list []Prompt) {
	for _, st := range s.Status() {
		list = append(list, st.Prompts...)
	}
	return list
}

// words matches the arguments of a command: --NAME=VALUE, and positional values, quoted if
// they have spaces.
var words = text.Pattern(`--([\w.-]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))|"((?:[^"\\]|\\.)*)"|(\S+)`)

// Values parses the arguments after the name of a prompt: named values, and positional
// values for the other required arguments, in order. A single such argument gets all
// positional values.
func (p Prompt) Values(line string) (map[string]string, error) {
	values, open, rest := p.Read(line)
	known := lists.Map(p.Arguments, func(a protocol.PromptArgument) string { return a.Name })
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("the prompt takes no --%s, but %s", name,
				cmp.Or(clean(strings.Join(known, ", "), longestError), "nothing"))
		}
	}
	if len(open) > 0 {
		return nil, errors.New("Missing required argument(s): --" + clean(strings.Join(open, ", --"), longestError))
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("no required argument takes %q; quote a value with spaces, and name an optional argument: --NAME=VALUE",
			clean(strings.Join(rest, " "), longestError))
	}
	return values, nil
}

// Read is [Prompt.Values] for an unfinished line. open are the required arguments that are
// missing, and rest the positional values that no argument takes.
func (p Prompt) Read(line string) (values map[string]string, open, rest []string) {
	values, others := map[string]string{}, []string{}
	plain := func(s string) string { return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s) }
	for _, m := range words().FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			values[m[1]] = plain(m[2]) + m[3]
		} else {
			others = append(others, plain(m[4])+m[5])
		}
	}
	for _, a := range p.Arguments {
		if _, ok := values[a.Name]; a.Required && !ok {
			open = append(open, a.Name)
		}
	}
	if len(open) == 1 && len(others) > 0 {
		others = []string{strings.Join(others, " ")}
	}
	for len(open) > 0 && len(others) > 0 {
		values[open[0]], open, others = others[0], open[1:], others[1:]
	}
	return values, open, others
}

// Fill returns the text of a prompt with its placeholders replaced.
func (s *Set) Fill(ctx context.Context, p Prompt, arguments map[string]string) ([]*genai.Part, error) {
	l, c, err := s.connected(p.Server)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	var got struct {
		Messages []struct {
			Role    protocol.Role   `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	wanted := protocol.GetPromptParams{Name: p.Name, Arguments: arguments}
	if _, err := l.ask(ctx, c, protocol.MethodPromptsGet, wanted, &got); err != nil {
		return nil, fmt.Errorf("the MCP server %s: %w", text.PrintableLine(p.Server), err)
	}
	rd := reading{tool: clean(p.Name, longestName)}
	for _, m := range got.Messages {
		c, err := readContent(m.Content)
		if err != nil {
			return nil, fmt.Errorf("the MCP server %s: %w", text.PrintableLine(p.Server), err)
		}
		if c.Type == protocol.ContentTypeText && m.Role == protocol.RoleAssistant {
			c.Text = "(an answer, as the server has it) " + c.Text
		}
		rd.block(c)
	}
	said := strings.TrimSpace(strings.Join(rd.plain, "\n\n"))
	if said == "" && len(rd.media) == 0 {
		return nil, fmt.Errorf("the MCP server %s has an empty prompt there", text.PrintableLine(p.Server))
	}
	return append([]*genai.Part{genai.NewPartFromText(said)}, rd.media...), nil
}

// Complete returns the server's completions of an argument that begins with a text. others
// are the values of the other arguments.
func (s *Set) Complete(ctx context.Context, p Prompt, argument, begins string, others map[string]string) []string {
	return s.complete(ctx, p.Server, protocol.PromptReference{Type: "ref/prompt", Name: p.Name},
		argument, begins, others)
}

// complete asks a server for values.
func (s *Set) complete(ctx context.Context, server string, ref any, argument, begins string,
	others map[string]string) []string {
	l, c, err := s.connected(server)
	if err != nil {
		return nil
	}
	if l.catalog.capabilities().Completions == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	var got protocol.CompleteResult
	c.conn.Call(ctx, protocol.MethodCompletionComplete, protocol.CompleteParams{Ref: ref,
		Argument: protocol.CompleteArgument{Name: argument, Value: begins},
		Context:  protocol.CompleteContext{Arguments: others}}, &got)
	return slices.DeleteFunc(got.Completion.Values, func(v string) bool { return text.PrintableLine(v) != v })
}
