package project

import (
	"context"
	"strings"
	"sync"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/mcp"
)

// Connections are the connections of a project to MCP servers.
type Connections struct {
	opts        *Options
	launcher    *launch.Launcher                        // starts local servers
	roots       func() []string                         // the directories of the workspace
	notify      func(string)                            // prints why a wanted server is not started
	log         func(server, said string)               // logs what a server writes to its standard error; may be nil
	keep        func(server, said string) (path string) // stores the same text, and returns the file, "" after an error
	Servers     *mcp.Set                                // nil if none is configured
	events      *EventQueue                             // gets notices about servers
	PrintNotice func(text string)                       // prints a notice when it interrupts nothing; nil queues the notice for the next event
	late        sync.Once                               // prints once which servers are not ready
	until       func() time.Time                        // the end of all waiting for servers
}

// SilentWait is how long the program waits for servers before it prints that it waits.
const SilentWait = 3 * time.Second

// Await starts the connections to servers, and waits for them until a time after the first call.
// tell prints that a wait is long. Notices about servers come with the next event.
func (c *Connections) Await(ctx context.Context, tell func(string)) {
	if c.Servers == nil {
		return
	}
	c.Servers.Start()
	wait := max(0, time.Until(c.until()))
	late := c.Servers.Wait(ctx, min(wait, SilentWait))
	if rest := wait - SilentWait; rest > 0 && len(late) > 0 && ctx.Err() == nil {
		tell("waiting for MCP servers, for " + rest.Round(time.Second).String() +
			" more at most: " + text.PrintableLine(strings.Join(late, ", ")))
		late = c.Servers.Wait(ctx, rest)
	}
	if len(late) > 0 && ctx.Err() == nil {
		c.late.Do(func() {
			c.events.Add(engine.Notice{Text: "MCP servers are not ready yet, their tools come later: " +
				text.PrintableLine(strings.Join(late, ", "))})
		})
	}
}

// note prints a notice about a server, or queues it for the next event.
func (c *Connections) note(text string) {
	if c.PrintNotice != nil {
		c.PrintNotice(text)
		return
	}
	c.events.Add(engine.Notice{Text: text})
}
