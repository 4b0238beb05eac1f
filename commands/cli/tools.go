package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// toolsCommand is gemline tools.
type toolsCommand struct {
	List toolsList `cmd:"" default:"withargs" help:"List the tools and what becomes of calls."`
	Show toolsShow `cmd:"" help:"Print what the model is told about a tool."`
}

// A tool is a tool in gemline tools --json.
type tool struct {
	Name        string `json:"name"`
	Server      string `json:"server,omitempty"` // the MCP server that has it
	Tool        string `json:"tool,omitempty"`   // its name on the server
	Label       string `json:"label"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"` // a JSON Schema
	Offered     bool   `json:"offered"`    // the model gets it
	Verdict     string `json:"verdict"`    // allow, ask or deny, before further grants
	Reason      string `json:"reason,omitempty"`
}

// tools returns the tools, each with the verdict about a call.
func (h headless) tools(ctx context.Context, trial *Trial) (list []tool) {
	for _, t := range trial.Tools.Tools() {
		e := trial.Explain(ctx, unspecified(t))
		if e.Verdict == engine.Ask && h.Headless {
			e.Reason = "Without a terminal nobody is asked, and the call is denied."
		}
		list = append(list, tool{Name: t.Name(), Server: t.Server, Tool: t.ServerTool, Label: t.Label, Kind: t.Kind.String(),
			Description: t.Declaration.Description,
			Parameters:  t.Declaration.ParametersJsonSchema, Offered: trial.Offers(t), Reason: e.Reason,
			Verdict: verdictWord(e.Verdict)})
	}
	return list
}

// unspecified is a call of t without arguments. Its command counts as plain, since an unknown
// command line would be judged as opaque.
func unspecified(t engine.Tool) engine.Proposal {
	return engine.Proposal{Tool: t, Intent: engine.Intent{Plan: engine.Plan{Class: engine.Plain}}}
}

// headless is the flag of sub-commands that say what a run would do: with it, the run has no user.
type headless struct {
	Headless bool `help:"Judge as in a run without a user."`
}

// ProvideTrial begins the trial of such a run. The caller closes it.
func (h headless) ProvideTrial(ctx context.Context, project Project) (*Trial, error) {
	return project.Trial(ctx, h.Headless)
}

type toolsList struct{ headless }

// Run prints a line for each tool that the model gets.
func (c *toolsList) Run(ctx context.Context, out *Output, trial *Trial) error {
	defer trial.Close()
	list, mode := c.tools(ctx, trial), trial.Policy.Mode()
	lines := []string{"approval mode: " + string(mode)}
	words := map[string]string{"allow": "runs unasked", "ask": "asks", "deny": "denied but for some calls"}
	for _, t := range list {
		if !t.Offered {
			continue
		}
		first, _, _ := strings.Cut(text.Words(t.Description), ". ")
		lines = append(lines, fmt.Sprintf("%s (%s, %s): %s", t.Name, t.Kind, words[t.Verdict],
			strings.TrimSuffix(first, ".")))
	}
	return out.show(map[string]any{"approval_mode": mode, "tools": list}, lines...)
}

type toolsShow struct {
	headless
	Name string `arg:"" complete:"tool" help:"Such as read_file."`
}

// Run prints the description and the schema of the arguments.
func (c *toolsShow) Run(ctx context.Context, out *Output, trial *Trial) error {
	defer trial.Close()
	t, err := toolFamily(c.tools(ctx, trial), func(t tool) string { return t.Name }).find(c.Name)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.document(t)
	}
	schema, _ := json.MarshalIndent(t.Parameters, "", "  ") // the schema that the model gets
	whose := t.Kind
	if t.Server != "" {
		whose = fmt.Sprintf("%s of the MCP server %s", t.Tool, t.Server)
	}
	return out.line("%s", output.Escape(fmt.Sprintf("%s (%s)\n\n%s\n\n%s", t.Name, whose, t.Description, schema)))
}
