package program

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/settings/consent"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
)

// newServers makes the set of servers, which are connected to later.
func (p *Project) newServers() {
	if p.opts.served == nil { // else they were found when the user was asked about them
		p.opts.served = p.opts.findServers(p.status.notify)
	}
	set := p.opts.served
	if len(set.list) == 0 {
		return
	}
	var open []string // the servers that nobody has said anything about
	for _, m := range set.list {
		if !m.projects() || m.off != "" || set.rights(m) != "" {
			continue
		}
		if !p.opts.agreedByFlag(set.fingerprint(m)) {
			open = append(open, text.EscapeLine(m.Name))
		}
	}
	if len(open) > 0 && p.tellServers == nil { // else they are listed with it
		p.status.notify("MCP servers of this project are not used, since nobody has agreed to what they are now: " +
			strings.Join(open, ", ") + howAgreed)
	}
	p.servers = p.connected(set.list, set.rights)
}

// connected returns a set of servers, each with the rights that it has at the moment.
func (p *Project) connected(list []mcpServer, rights func(mcpServer) consent.Rights) *mcp.Set {
	cfg := mcp.Config{Launcher: p.launcher, Version: p.opts.os.Version, Roots: p.workspace.Roots,
		Notify: p.noteServer}
	logins := sync.OnceValue(p.opts.logins) // when the first remote server is connected to
	var remote map[string]oauth.Server      // by name
	cfg.Transport = func(s mcp.Server) (http.RoundTripper, error) { return oauth.New(logins(), remote[s.Name]) }
	cfg.Seen = &mcp.Seen{Path: p.opts.paths.User("gemline", "mcp-tools.json"),
		Failed: func(err error) { p.noteServer("what MCP servers say of their tools is not kept: " + err.Error()) }}
	if p.opts.flags.Debug {
		cfg.Log = p.logServer
	}
	cfg.Keep = p.keepServer
	for _, m := range list {
		filled := p.filled(m, rights(m))
		s := p.described(filled)
		if p.opts.serving != nil && isServing(s.Command) {
			s.Off = "it is gemline itself"
		}
		s.Rights = func() (bool, error) {
			r := rights(m) // as they are now
			return r == consent.All, startable(r)
		}
		if s.URL != "" {
			if remote == nil {
				remote = map[string]oauth.Server{}
			}
			remote[s.Name] = filled.login(s.URL)
		}
		cfg.Servers = append(cfg.Servers, s)
	}
	return mcp.New(cfg)
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
	p.waitOnce.Do(func() { p.waitUntil = time.Now().Add(time.Duration(p.opts.settings.ConnectSeconds) * time.Second) })
	wait := max(0, time.Until(p.waitUntil))
	if p.opts.interactive {
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
			p.told.add(engine.Notice{Info: p.opts.interactive,
				Text: "MCP servers are not ready yet, their tools come later: " +
					text.EscapeLine(strings.Join(late, ", "))})
		}
	})
}
