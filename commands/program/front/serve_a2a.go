package front

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/lists"
	"gemline/repl/a2a"
	"gemline/repl/input"
	"gemline/repl/serve"
	"gemline/settings/extension"
	"gemline/settings/flags"
	"gemline/tools/mcp"
)

// serveA2A serves other agents, which work in p.
func (r *Run) serveA2A(ctx context.Context, p *project.Project) error {
	port := r.Options.User.Serving.Port
	if said := r.Options.Env.Process.Getenv("CODER_AGENT_PORT"); said != "" && port == 0 {
		var err error
		if port, err = cli.ParsePort(said); err != nil {
			return &flags.UsageError{Message: "CODER_AGENT_PORT needs a number up to 65535"}
		}
	}
	return serve.HTTP(ctx, r.Options.Env.Process.Stdout, port, "/",
		func(ctx context.Context, g *serve.Group, at serve.Address) (http.Handler, error) {
			cfg := a2a.Config{Version: r.Options.Env.Process.Version, Dir: p.Options.Paths.Cwd, Address: at.URL,
				Outcome: r.outcome, Redact: r.Options.Secrets.Text, Warn: r.notify,
				Begin: func(ctx context.Context,
					w serve.SessionRequest) (*serve.Session, error) {
					return r.beginServed(ctx, p, w)
				},
				Commands: clientCommands(),
				Execute: func(ctx context.Context, name, args string) (any, string, error) {
					return clientCommand(ctx, r, p, name, args)
				},
				Servers: func() []a2a.Connected { return connectedServers(p) }}
			if p.Store.Temp != "" {
				cfg.Folder = filepath.Join(p.Store.Temp, "a2a")
			}
			s, err := a2a.New(ctx, g, cfg)
			if err != nil {
				return nil, err
			}
			if isTerminal(r.Options.Env.Process.Stdout) {
				r.Status.PrintInfo("other agents are waited for at " + at.URL +
					"; gemline help a2a says how they call it, and Ctrl-C ends this")
			}
			mux := http.NewServeMux()
			mux.Handle("/", serve.RequireToken(at.Token, s))
			mux.HandleFunc("GET /.well-known/agent-card.json", s.ServeCard)
			return mux, nil
		})
}

// clientCommands returns the slash commands that clients may run.
func clientCommands() (list []a2a.Command) {
	set := commands.Builtin(&commands.Deps{})
	for _, name := range []string{"extensions", "extensions list", "init", "memory", "memory show",
		"memory refresh", "memory list", "restore", restoreList} {
		c, _ := set.Find(name)
		told := a2a.Command{Name: name, Description: c.Summary, Arguments: []a2a.Argument{}, Sub: []a2a.Command{}}
		switch {
		case name == restoreList:
			told.Description = "list the calls before which restore can go back"
		case c.Args != "":
			told.Arguments = []a2a.Argument{{Name: strings.Trim(c.Args, "[]"), Description: c.Args, Required: c.Args[0] != '['}}
		}
		if strings.Contains(name, " ") { // the parent command is the last entry
			parent := &list[len(list)-1]
			parent.Sub = append(parent.Sub, told)
		} else {
			list = append(list, told)
		}
	}
	return list
}

const restoreList = "restore list" // as the Gemini CLI calls it

// clientCommand runs a client's command, and returns its result in the form of the Gemini CLI's
// server, or a prompt for the model.
func clientCommand(ctx context.Context, r *Run, p *project.Project, name, args string) (data any, prompt string, err error) {
	switch name {
	case "extensions", "extensions list":
		return extensionData(p.Options), "", nil
	case restoreList:
		data, err = restorables(ctx, p)
		return data, "", err
	case "restore":
		data, err = restoreTo(ctx, p, args)
		return data, "", err
	}
	return commandOutside(ctx, r, p, strings.TrimSpace("/"+name+" "+args))
}

// extensionData returns the extensions.
func extensionData(o *project.Options) []map[string]any {
	list, _ := o.InstalledExtensions()
	return lists.Map(list, func(x extension.Extension) map[string]any {
		return map[string]any{"name": x.Name, "version": x.Version, "id": x.ID, "path": x.Dir,
			"description": x.About, "isActive": x.Active, "contextFiles": append([]string{}, x.Contents.ContextFiles...)}
	})
}

// commandOutside runs a slash command outside of any conversation, and returns its output, or a
// prompt for the model.
func commandOutside(ctx context.Context, r *Run, p *project.Project, line string) (printed, prompt string, err error) {
	s, err := session.Begin(ctx, p, session.Config{Tally: ending.NewTally()})
	if err != nil {
		return "", "", err
	}
	defer s.Close()
	f := frontendOf(r, s)
	var out bytes.Buffer
	app := f.commands(&out, func(engine.Event) {})
	app.Restart, app.Sessions.Resume, app.Discard = nil, nil, nil
	none := func(context.Context, []*genai.Part) ([]*genai.Part, error) { return nil, nil }
	parts, err := commands.Step(app)(input.Processor(none))(ctx, []*genai.Part{genai.NewPartFromText(line)})
	for _, part := range parts {
		prompt += part.Text
	}
	return out.String(), prompt, err
}

// connectedServers returns the MCP servers of the project, with their tools, prompts and resources.
func connectedServers(p *project.Project) []a2a.Connected {
	return lists.Map(p.MCP.Servers.Status(), func(st mcp.Status) a2a.Connected {
		return a2a.Connected{Name: st.Name, Status: string(st.State), Tools: lists.Map(st.Tools, func(t mcp.ToolInfo) a2a.Tool {
			return a2a.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
		})}
	})
}
