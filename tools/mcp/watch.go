package mcp

import (
	"context"
	"encoding/json"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// mostWatched is how many resources of a server are watched.
const mostWatched = 64

// watch subscribes to changes of a resource that was read, if the server supports it.
func (l *serverConn) watch(c *peer, uri string) {
	if can := l.catalog.capabilities().Resources; can == nil || !can.Subscribe {
		return
	}
	l.mu.Lock()
	_, known := c.watched[uri]
	ask := !known && len(c.watched) < mostWatched
	if known || ask {
		c.watched[uri] = true
	}
	l.mu.Unlock()
	if !ask {
		return
	}
	what := protocol.SubscribeParams{URI: uri}
	optional(l.set.ctx, func(ctx context.Context) { c.conn.Call(ctx, protocol.MethodResourcesSubscribe, what, nil) })
}

// updated reports that a resource has changed, once until it is read again.
func (l *serverConn) updated(params json.RawMessage) {
	var p protocol.ResourceUpdatedNotificationParams
	rpc.Decode(params, &p)
	c := l.conn.Load()
	l.mu.Lock()
	tell := c != nil && c.watched[p.URI]
	if tell {
		c.watched[p.URI] = false
	}
	l.mu.Unlock()
	if tell {
		name := text.OneLine(l.Name+":"+p.URI, longestError)
		l.set.notify("MCP server %s: %s has changed since it was read; @%s reads it again",
			l.Name, text.OneLine(p.URI, longestError), name)
	}
}
