package project

import (
	"context"
	"strings"
	"sync"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/mcp"
)

// Connections are those of a project to MCP servers.
type Connections struct {
	Connector Connector
	Set       *mcp.Set          // nil if there are no servers
	events    *EventQueue       // takes what is told of them
	Show      func(text string) // tells it where that disturbs nobody, in the place of told; nil if nothing does
	late      sync.Once         // says which servers are not waited for
	until     func() time.Time  // how long they are, all in all
}

// Patience is how long servers are waited for before that is told.
const Patience = 3 * time.Second

// Await begins to connect to servers and, where no user could be kept waiting, waits for
// them, which is told by tell. What is told of them meanwhile comes with the next event.
func (c *Connections) Await(ctx context.Context, tell func(string)) {
	if c.Set == nil {
		return
	}
	c.Set.Start()
	wait := max(0, time.Until(c.until()))
	if c.Connector.Opts.User.Interactive {
		wait = 0
	}
	late := c.Set.Wait(ctx, min(wait, Patience))
	if rest := wait - Patience; rest > 0 && len(late) > 0 && ctx.Err() == nil {
		tell("waiting for MCP servers, for " + rest.Round(time.Second).String() +
			" more at most: " + text.PrintableLine(strings.Join(late, ", ")))
		late = c.Set.Wait(ctx, rest)
	}
	c.late.Do(func() {
		if len(late) > 0 && ctx.Err() == nil {
			c.events.Add(engine.Notice{Info: c.Connector.Opts.User.Interactive,
				Text: "MCP servers are not ready yet, their tools come later: " +
					text.PrintableLine(strings.Join(late, ", "))})
		}
	})
}

// note tells something of a server: with the next event, or at the terminal when that
// disturbs nobody.
func (c *Connections) note(text string) {
	if c.Show != nil {
		c.Show(text)
		return
	}
	c.events.Add(engine.Notice{Text: text})
}
