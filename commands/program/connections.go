package program

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/mcp"
)

// connections are those of a project to MCP servers.
type connections struct {
	connector project.Connector
	set       *mcp.Set          // nil if there are no servers
	events    *eventQueue       // takes what is told of them
	show      func(text string) // tells it where that disturbs nobody, in the place of told; nil if nothing does
	late      sync.Once         // says which servers are not waited for
	until     func() time.Time  // how long they are, all in all
}

// connect makes the connections of a project. None is made before it is needed.
func (p *Project) connect() {
	o := p.opts
	c := &connections{events: &p.status.turn, until: sync.OnceValue(func() time.Time {
		return time.Now().Add(time.Duration(o.Settings.ConnectSeconds) * time.Second)
	})}
	c.connector = project.Connector{Opts: o, Launcher: p.launcher, Roots: p.workspace.Roots, Notify: p.status.notify,
		Note: c.note, Keep: func(server, said string) string { return keepErrors(p.store.Temp, server, o.Secrets.Text(said)) }}
	if o.Flags.Debug {
		c.connector.Log = func(server, said string) {
			if l := p.model.setup.Logger; l != nil {
				l.Debug("MCP server", "server", server, "said", text.OneLine(said, 2000))
			}
		}
	}
	c.set = c.connector.Serve(o.Servers(p.status.notify), p.status.notify)
	p.mcp = c
}

// startServers begins to connect to servers while the user types.
func (i *interactive) startServers() {
	c := i.frontend.session.project.mcp
	if c.set == nil {
		return
	}
	var early gathered
	tell := func(texts ...string) { // together, when that disturbs nobody
		i.screen.Show(func() {
			for _, text := range texts {
				i.frontend.notify(text)
			}
		})
	}
	c.show = func(text string) { early.add(text, tell) }
	c.set.Start()
	go func() {
		c.set.Wait(context.Background(), patience)
		early.all(tell)
	}()
}

// gathered are warnings of a beginning, which are told together when that is over. It is
// safe for concurrent use.
type gathered struct {
	mu    sync.Mutex
	texts []string
	over  bool
}

// add adds a warning, or has tell tell it if it comes later than the others.
func (g *gathered) add(text string, tell func(...string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		tell(text)
		return
	}
	g.texts = append(g.texts, text)
}

// all has tell tell what was gathered.
func (g *gathered) all(tell func(...string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over = true; len(g.texts) > 0 {
		slices.Sort(g.texts)
		tell(g.texts...)
	}
}

// patience is how long servers are waited for before that is told.
const patience = 3 * time.Second

// await begins to connect to servers and, where no user could be kept waiting, waits for
// them, which is told by tell. What is told of them meanwhile comes with the next event.
func (c *connections) await(ctx context.Context, tell func(string)) {
	if c.set == nil {
		return
	}
	c.set.Start()
	wait := max(0, time.Until(c.until()))
	if c.connector.Opts.User.Interactive {
		wait = 0
	}
	late := c.set.Wait(ctx, min(wait, patience))
	if rest := wait - patience; rest > 0 && len(late) > 0 && ctx.Err() == nil {
		tell("waiting for MCP servers, for " + rest.Round(time.Second).String() +
			" more at most: " + text.EscapeLine(strings.Join(late, ", ")))
		late = c.set.Wait(ctx, rest)
	}
	c.late.Do(func() {
		if len(late) > 0 && ctx.Err() == nil {
			c.events.add(engine.Notice{Info: c.connector.Opts.User.Interactive,
				Text: "MCP servers are not ready yet, their tools come later: " +
					text.EscapeLine(strings.Join(late, ", "))})
		}
	})
}

// note tells something of a server: with the next event, or at the terminal when that
// disturbs nobody.
func (c *connections) note(text string) {
	if c.show != nil {
		c.show(text)
		return
	}
	c.events.add(engine.Notice{Text: text})
}

// keepErrors stores in temp what a server has written to its standard error, until it does
// again, and returns where.
func keepErrors(temp, server, said string) (path string) {
	if temp == "" {
		return ""
	}
	path = filepath.Join(temp, "mcp", url.PathEscape(server)+".log")
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || disk.Replace(path, []byte(said), 0o600) != nil {
		return ""
	}
	return path
}
