package program

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/commands/program/project"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/model/catalog"
	"gemline/engine/model/oneshot"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/tools/mcp"
)

// newServers makes the set of servers, which are connected to later.
func (p *Project) newServers() {
	c := project.Connector{Opts: p.opts, Launcher: p.launcher, Roots: p.workspace.Roots, Notify: p.status.notify,
		Note: p.noteServer, Keep: p.keepServer}
	if p.opts.Flags.Debug {
		c.Log = p.logServer
	}
	p.connector, p.servers = c, c.Serve(p.opts.Servers(p.status.notify), p.status.notify)
}

// startServers begins to connect to servers while the user types.
func (i *interactive) startServers() {
	if i.front.session.project.servers == nil {
		return
	}
	i.front.session.project.tellServers = func(text string) { i.screen.Show(func() { i.front.notify(text) }) }
	i.front.session.project.servers.Start()
}

// patience is how long servers are waited for before that is told.
const patience = 3 * time.Second

// awaitServers begins to connect to servers and, where no user could be kept waiting, waits
// for them. What is told of them meanwhile comes with the next event.
func (p *Project) awaitServers(ctx context.Context) {
	if p.servers == nil {
		return
	}
	p.servers.Start()
	p.waitOnce.Do(func() { p.waitUntil = time.Now().Add(time.Duration(p.opts.Settings.ConnectSeconds) * time.Second) })
	wait := max(0, time.Until(p.waitUntil))
	if p.opts.Interactive {
		wait = 0
	}
	late := p.servers.Wait(ctx, min(wait, patience))
	if rest := wait - patience; rest > 0 && len(late) > 0 && ctx.Err() == nil {
		p.status.tell("waiting for MCP servers, for " + rest.Round(time.Second).String() +
			" more at most: " + text.EscapeLine(strings.Join(late, ", ")))
		late = p.servers.Wait(ctx, rest)
	}
	p.lateOnce.Do(func() {
		if len(late) > 0 && ctx.Err() == nil {
			p.told.add(engine.Notice{Info: p.opts.Interactive,
				Text: "MCP servers are not ready yet, their tools come later: " +
					text.EscapeLine(strings.Join(late, ", "))})
		}
	})
}

// noteServer tells something of a server: with the next event, or at the terminal when that
// disturbs nobody.
func (p *Project) noteServer(text string) {
	if p.tellServers != nil {
		p.tellServers(text)
		return
	}
	p.told.add(engine.Notice{Text: text})
}

// logServer writes what a server says into the debug log.
func (p *Project) logServer(server, said string) {
	if l := p.server.setup.Logger; l != nil {
		l.Debug("MCP server", "server", server, "said", text.OneLine(said, 2000))
	}
}

// keepServer stores what a server has written to its standard error, until it does again, and
// returns where.
func (p *Project) keepServer(server, said string) (path string) {
	if p.store.Temp == "" {
		return ""
	}
	path = filepath.Join(p.store.Temp, "mcp", url.PathEscape(server)+".log")
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || disk.Replace(path, []byte(p.opts.Secrets.Text(said)), 0o600) != nil {
		return ""
	}
	return path
}

// served returns the tools of servers, as they are judged and answered in a conversation.
func (s *Session) served(servers *mcp.Set, judge engine.Policy) engine.Toolset {
	c := mcp.Conversation{Policy: judge, Trusting: func() bool { return s.policy.Mode() == policy.Yolo }}
	if s.env.Distill.Most <= 0 { // else that cuts
		c.Cut = s.env.Cut
	}
	if s.asker != nil {
		c.Answer = s.answerServer
	}
	return servers.Tools(c)
}

// answerServer has the model of the conversation answer a server, beside the conversation.
func (s *Session) answerServer(ctx context.Context, host engine.Host, q mcp.Sampling) (a mcp.Answer, err error) {
	const (
		thoughts = 8 << 10 // tokens, which count like those of the answer
		most     = 32 << 10
	)
	model := s.router.Model()
	c, err := s.asker.Ask(ctx, oneshot.Question{Purpose: model, System: q.System, Contents: q.Messages, Tell: host.Emit,
		With: func(cfg *genai.GenerateContentConfig) {
			if q.Most > 0 && q.Most <= most {
				cfg.MaxOutputTokens = int32(q.Most + thoughts)
			}
			if q.Temperature > 0 && !slices.Contains(catalog.Of(s.project.server.presets.Chat(model, false).Model).Ignores, "temperature") {
				cfg.Temperature = new(float32(q.Temperature))
			}
			cfg.StopSequences = q.Stop
		}})
	if err != nil {
		return a, err
	}
	return mcp.Answer{Text: oneshot.Words(c), Model: s.project.server.presets.Purpose(model).Model,
		Cut: c.FinishReason == genai.FinishReasonMaxTokens}, nil
}
