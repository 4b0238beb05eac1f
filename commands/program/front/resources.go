package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/tools/mcp"
)

// resources is the [input.Source] of the resources of MCP servers, by SERVER:URI.
type resources struct {
	servers *mcp.Set
	notify  func(string)
}

// Find implements [input.Source].
func (r resources) Find(_ context.Context, ref input.Ref) (input.Target, error) {
	server, uri, ok := r.servers.SplitResource(ref.Name)
	if !ok || text.PrintableLine(ref.Name) != ref.Name {
		return input.Target{}, nil
	}
	uri = strings.TrimRight(uri, ".:'\"*_>`") // punctuation of the sentence around it
	return input.Target{Names: []string{server + ":" + uri}}, nil
}

// Read implements [input.Source].
func (r resources) Read(ctx context.Context, names []string) (parts []*genai.Part, err error) {
	for _, name := range names {
		server, uri, _ := r.servers.SplitResource(name)
		said, omitted, err := r.servers.Read(ctx, server, uri)
		if err != nil {
			return nil, errors.New("@" + name + ": " + engine.DisplayError(err))
		}
		if len(omitted) > 0 {
			r.notify("@" + name + " holds " + strings.Join(omitted, ", ") + ", which is not sent: the model is only told so")
		}
		parts = append(parts, genai.NewPartFromText("\nContent from @"+name+":\n"),
			genai.NewPartFromText(text.Untrusted(strings.TrimSpace(strings.Join(said, "\n")))))
	}
	return parts, nil
}

// promptCommands returns the prompts of MCP servers, as commands. Their descriptions are printed to
// out.
func (f *frontend) promptCommands(out io.Writer) (set commands.Set) {
	for _, p := range f.session.Project.MCP.Servers.Prompts() {
		name := engine.FunctionName(strings.Join(strings.Fields(p.Name), "-"))
		summary := cmp.Or(p.Description, "prompt of the MCP server "+text.PrintableLine(p.Server))
		var args []string
		for _, a := range p.Arguments {
			word := "--" + text.PrintableLine(a.Name) + "=TEXT"
			if !a.Required {
				word = "[" + word + "]"
			}
			args = append(args, word)
		}
		c := &commands.Command{Name: name, // or its alias, if the name is taken
			Aliases: []string{engine.FunctionName(p.Server) + "." + name}, Args: strings.Join(args, " "),
			Summary: summary, Custom: true,
			Complete: func(ctx context.Context, before, prefix string) []string {
				return f.completePrompt(ctx, p, before, prefix)
			}}
		c.Prompt = func(ctx context.Context, _, args string) ([]*genai.Part, error) {
			if strings.TrimSpace(args) == "help" {
				_, err := fmt.Fprintln(out, strings.Join(describePrompt(c.Name, p), "\n"))
				return nil, err
			}
			values, err := p.Values(args)
			if err != nil {
				return nil, &input.Error{Message: "/" + c.Name + ": " + err.Error()}
			}
			parts, err := f.session.Project.MCP.Servers.Fill(ctx, p, values)
			if err != nil && ctx.Err() == nil {
				err = &input.Error{Message: "/" + c.Name + ": " + text.PrintableLine(err.Error()), Err: err}
			}
			return parts, err
		}
		set = append(set, c)
	}
	return set
}

// completePrompt returns candidates for an argument of a prompt: the argument's name, or a value
// that the server offers.
func (f *frontend) completePrompt(ctx context.Context, p mcp.Prompt, before, prefix string) (words []string) {
	values, open, _ := p.Read(before)
	offer := func(argument, name, begins string) {
		for _, v := range f.session.Project.MCP.Servers.Complete(ctx, p, argument, begins, values) {
			switch {
			case strings.Contains(v, `"`):
				continue
			case strings.Contains(v, " "):
				v = `"` + v + `"`
			}
			words = append(words, name+v)
		}
	}
	for _, a := range p.Arguments {
		name := "--" + a.Name + "="
		begins, valued := strings.CutPrefix(prefix, name)
		_, said := values[a.Name]
		switch {
		case valued:
			offer(a.Name, name, strings.Trim(begins, `"`))
		case strings.HasPrefix(name, prefix) && text.PrintableLine(name) == name && !said:
			words = append(words, name)
		}
	}
	if len(open) > 0 && !strings.HasPrefix(prefix, "-") {
		offer(open[0], "", strings.Trim(prefix, `"`))
	}
	return words
}

// describePrompt describes the arguments of a prompt.
func describePrompt(name string, p mcp.Prompt) (lines []string) {
	if len(p.Arguments) == 0 {
		return []string{"/" + name + " takes nothing"}
	}
	lines = []string{"/" + name + " takes:"}
	for _, a := range p.Arguments {
		line := "  --" + text.PrintableLine(a.Name) + "=TEXT"
		if a.Required {
			line += ", which is needed"
		}
		if a.Description != "" {
			line += ": " + a.Description
		}
		lines = append(lines, line)
	}
	return lines
}

// completeResource returns resources of MCP servers that match a name behind an @.
func (f *frontend) completeResource(ctx context.Context, name string) []input.Candidate {
	names, open := f.session.Project.MCP.Servers.CompleteResource(ctx, name)
	return lists.Map(names, func(n string) input.Candidate { return input.Candidate{Text: n, Show: n, Open: open[n]} })
}
