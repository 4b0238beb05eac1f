package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/settings/flags"
	"gemline/tools/mcp"
)

// toolsCommand is gemline tools.
type toolsCommand struct {
	List toolsList `cmd:"" default:"withargs" help:"List the tools and what becomes of calls."`
	Show toolsShow `cmd:"" help:"Print what the model is told about a tool."`
}

// A tool is one as gemline tools --json lists it.
type tool struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"` // a JSON Schema
	Offered     bool   `json:"offered"`    // the model is told about it
	Verdict     string `json:"verdict"`    // allow, ask or deny, if nothing else was granted
	Reason      string `json:"reason,omitempty"`
}

// tools returns the tools and the mode that they are judged in.
func (w *World) tools() ([]tool, policy.Mode, error) {
	set, p, err := w.Project.Toolset()
	if err != nil {
		return nil, "", err
	}
	var list []tool
	for _, t := range set.Tools() {
		e := p.Explain(unspecified(t))
		if e.Verdict == engine.Ask && p.Unattended {
			e.Reason = "Without a terminal nobody is asked, and the call is denied."
		}
		list = append(list, tool{Name: t.Name(), Label: t.Label, Kind: t.Kind.String(),
			Description: t.Declaration.Description,
			Parameters:  t.Declaration.ParametersJsonSchema, Offered: p.Offers(t), Reason: e.Reason,
			Verdict: verdictWord(e.Verdict)})
	}
	return list, p.Mode(), nil
}

// unspecified is a call of t without arguments. It runs no command, so that it is not
// judged as one that may be any.
func unspecified(t engine.Tool) engine.Proposal {
	return engine.Proposal{Tool: t, Intent: engine.Intent{Plan: engine.Plan{Class: engine.Plain}}}
}

type toolsList struct{}

// Run prints a line for each tool.
func (*toolsList) Run(w *World) error {
	list, mode, err := w.tools()
	if err != nil {
		return err
	}
	lines := []string{"approval mode: " + string(mode)}
	words := map[string]string{"allow": "runs unasked", "ask": "asks", "deny": "denied"}
	for _, t := range list {
		first, _, _ := strings.Cut(strings.Join(strings.Fields(t.Description), " "), ". ")
		lines = append(lines, fmt.Sprintf("%s (%s, %s): %s", t.Name, t.Kind, words[t.Verdict],
			strings.TrimSuffix(first, ".")))
	}
	return w.show(map[string]any{"approval_mode": mode, "tools": list}, lines...)
}

// showServerTool prints what the model is told about a tool of an MCP server.
func (w *World) showServerTool(server string, t mcp.ToolInfo) error {
	if w.JSON {
		return w.document(map[string]any{"name": t.Declared, "server": server, "tool": t.Name,
			"description": t.Description, "parameters": t.Schema})
	}
	schema, err := text.JSON(t.Schema, "  ")
	if err != nil {
		return err
	}
	return w.line("%s", output.Escape(fmt.Sprintf("%s (%s of the MCP server %s)\n\n%s\n\n%s",
		t.Declared, t.Name, server, t.Description, schema)))
}

type toolsShow struct {
	Name string `arg:"" complete:"tool" help:"Such as read_file."`
}

// Run prints the description and the schema of the arguments.
func (c *toolsShow) Run(ctx context.Context, w *World) error {
	list, _, err := w.tools()
	if err != nil {
		return err
	}
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
		if t.Name != c.Name {
			continue
		}
		if w.JSON {
			return w.document(t)
		}
		schema, err := json.MarshalIndent(t.Parameters, "", "  ")
		if err != nil {
			return err
		}
		return w.line("%s", output.Escape(fmt.Sprintf("%s (%s)\n\n%s\n\n%s", t.Name, t.Kind, t.Description, schema)))
	}
	if strings.HasPrefix(c.Name, "mcp_") {
		const patience = 5 * time.Second
		list, err := w.Servers.Status(ctx, 0)
		if err != nil {
			return err
		}
		var meant []string // none is all
		for _, s := range list {
			if strings.HasPrefix(c.Name, "mcp_"+s.Name+"_") {
				meant = append(meant, s.Name)
			}
		}
		if w.In != nil { // a session has connected by itself
			if list, err = w.Servers.Status(ctx, patience, meant...); err != nil {
				return err
			}
		}
		for _, s := range list {
			for _, t := range s.Tools {
				names = append(names, t.Declared)
				if t.Declared == c.Name {
					return w.showServerTool(s.Name, t)
				}
			}
		}
	}
	return &flags.UsageError{Message: fmt.Sprintf("no tool %q%s; there are: %s", shorten(c.Name),
		didYouMean(c.Name, names), strings.Join(names, ", "))}
}
