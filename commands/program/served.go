package program

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/tools/mcp"
)

// resources is the [input.Source] of what MCP servers have to read, by SERVER:URI.
type resources struct {
	servers *mcp.Set
	notify  func(string)
}

// Find implements [input.Source].
func (r resources) Find(_ context.Context, ref input.Ref) (input.Target, error) {
	server, uri, ok := r.servers.Split(ref.Name)
	if !ok || text.EscapeLine(ref.Name) != ref.Name {
		return input.Target{}, nil
	}
	less := strings.TrimRight(uri, ".:'\"*_>`") // of the sentence around it
	name := server + ":" + less
	return input.Target{Text: name, Names: []string{name}, Less: len(uri) - len(less)}, nil
}

// Read implements [input.Source].
func (r resources) Read(ctx context.Context, names []string) (parts []*genai.Part, err error) {
	for _, name := range names {
		server, uri, _ := r.servers.Split(name)
		said, err := r.servers.Read(ctx, server, uri)
		if err != nil {
			return nil, errors.New("@" + name + ": " + engine.DisplayError(err))
		}
		parts = append(parts, genai.NewPartFromText("\nContent from @"+name+":\n"),
			genai.NewPartFromText(text.Untrusted(strings.TrimSpace(strings.Join(said, "\n")))))
	}
	return parts, nil
}

// promptCommands returns the prompts of MCP servers, as commands.
func (f *front) promptCommands() (set commands.Set) {
	for _, p := range f.servers.Prompts() {
		name := engine.FunctionName(strings.Join(strings.Fields(p.Name), "-"))
		summary := p.Description
		if summary == "" {
			summary = "prompt of the MCP server " + text.EscapeLine(p.Server)
		}
		var args []string
		for _, a := range p.Arguments {
			word := "--" + text.EscapeLine(a.Name) + "=TEXT"
			if !a.Required {
				word = "[" + word + "]"
			}
			args = append(args, word)
		}
		set = append(set, &commands.Command{Name: name, Aliases: []string{engine.FunctionName(p.Server) + "." + name}, Args: strings.Join(args, " "),
			Summary: summary, Custom: true,
			Prompt: func(ctx context.Context, _ *commands.App, _, args string) ([]*genai.Part, error) {
				values, err := p.Values(args)
				if err != nil {
					return nil, &input.Error{Message: "/" + name + ": " + err.Error()}
				}
				parts, err := f.servers.Fill(ctx, p, values)
				if err != nil && ctx.Err() == nil {
					err = &input.Error{Message: "/" + name + ": " + text.EscapeLine(err.Error()), Err: err}
				}
				return parts, err
			},
			Complete: func(ctx context.Context, _ *commands.App, prefix string) []string {
				return f.completePrompt(ctx, p, prefix)
			}})
	}
	return set
}

// completePrompt returns what an argument of a prompt may become: its name, or a value that
// the server offers.
func (f *front) completePrompt(ctx context.Context, p mcp.Prompt, prefix string) (words []string) {
	for _, a := range p.Arguments {
		name := "--" + a.Name + "="
		begins, valued := strings.CutPrefix(prefix, name)
		switch {
		case valued:
			for _, v := range f.servers.Complete(ctx, p, a.Name, begins, nil) {
				if text.EscapeLine(v) == v && !strings.ContainsAny(v, " \"") {
					words = append(words, name+v)
				}
			}
		case strings.HasPrefix(name, prefix) && text.EscapeLine(name) == name:
			words = append(words, name)
		}
	}
	return words
}
