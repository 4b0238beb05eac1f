package serve

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Bounds of connections.
const (
	mostConnections = 256
	idleTimeout     = 2 * time.Minute // in which no request comes
	headerTimeout   = 10 * time.Second
	mostHeaders     = 64 << 10
)

// Patience is how long is waited for a request that comes slowly, or a client that reads slowly.
const Patience = 30 * time.Second

// newServer returns a server whose connections end when no request comes in time, and are
// bounded in number.
func newServer(h http.Handler, idle time.Duration, most int) *http.Server {
	c := &connections{most: most}
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: mostHeaders,
		IdleTimeout: idle, ConnState: c.changed}
}

// connections are the connections of a server. If there are too many, the longest quiet
// connection ends, perhaps the new one.
type connections struct {
	most int

	mu    sync.Mutex
	open  int
	quiet []net.Conn // without a request in work, the longest idle first
}

// changed is the server's ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if old := c.note(conn, state); old != nil {
		old.Close()
	}
}

// note records a new state of a connection. It returns a connection that is to end, or nil.
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
	c.quiet = c.quiet[1:] // the next connection over the limit ends another one, even before old is closed
	return old
}
