package program

import (
	"context"
	"strings"
	"sync"
	"time"

	"gemline/commands/program/project"
	"gemline/engine"
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
