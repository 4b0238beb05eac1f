package serve

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of connections.
const (
	mostConnections = 256
	idleTimeout     = 2 * time.Minute // without a request
	headerTimeout   = 10 * time.Second
	mostHeaders     = 64 << 10
)

// Patience is the timeout of a slow request or a slow reader.
const Patience = 30 * time.Second

// newServer returns a server that closes idle connections, and limits their number.
func newServer(h http.Handler, idle time.Duration, most int) *http.Server {
	c := &connections{most: most}
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: mostHeaders,
		IdleTimeout: idle, ConnState: c.changed}
}

// connections are the connections of a server. Above the limit, the connection that was idle
// longest is closed; it may be the new one.
type connections struct {
	most int

	mu    sync.Mutex
	open  int
	quiet []net.Conn // without a running request, the longest idle first
}

// changed is the server's ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if old := c.note(conn, state); old != nil {
		old.Close()
	}
}

// note records a new state of a connection. It returns a connection to close, or nil.
func (c *connections) note(conn net.Conn, state http.ConnState) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet = slices.DeleteFunc(c.quiet, func(q net.Conn) bool { return q == conn })
	switch state {
	case http.StateNew:
		c.open++
		c.quiet = append(c.quiet, conn)
	case http.StateIdle:
		c.quiet = append(c.quiet, conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	if state != http.StateNew || c.open <= c.most {
		return nil
	}
	old := c.quiet[0]
	c.quiet = c.quiet[1:] // the next connection above the limit closes another, even before old is closed
	return old
}
