package mcp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/tools/launch"
)

// Config is what a Set needs. The functions may be called on any goroutine.
type Config struct {
	Servers  []Server
	Launcher *launch.Launcher
	Roots    func() []string
	Version  string // of this program

	// Transport returns what carries requests to a remote server, with what that wants to
	// see before it answers. Nil is the usual one.
	Transport func(Server) (http.RoundTripper, error)

	Notify func(text string)         // tells a warning, in a line
	Log    func(server, text string) // is given what servers write to their standard error, and say for a log; may be nil
	Pins   *ToolPins                 // the tools that were agreed to; may be nil

	// Keep stores all that a server has written to its standard error, and returns the name
	// of the file, "" if there is none. It may be nil.
	Keep func(server, said string) (path string)
}

// A Set is the servers of a project. It is safe for concurrent use. The nil Set has none.
type Set struct {
	Config
	ctx    context.Context
	cancel context.CancelFunc
	conns  []*serverConn // which stay the same
	start  sync.Once
	work   sync.WaitGroup

	mu    sync.Mutex
	roots []string // as the servers were told
}

// New returns a Set that has not begun to connect.
func New(cfg Config) *Set {
	s := &Set{Config: cfg}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	servers := slices.SortedFunc(slices.Values(cfg.Servers),
		func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	s.conns = lists.Map(servers, func(server Server) *serverConn { return newServerConn(s, server) })
	return s
}

// Start begins to connect, and returns at once.
func (s *Set) Start() {
	s.start.Do(func() {
		if s.Roots != nil {
			s.roots = slices.Clone(s.Roots())
		}
		for _, l := range s.conns {
			s.work.Go(func() { l.run(s.ctx) })
		}
	})
}

// Wait waits until the first connection to each server has succeeded or failed, at most so long,
// and returns the names of servers that are still connecting.
func (s *Set) Wait(ctx context.Context, most time.Duration) (late []string) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, l := range s.all() {
		select {
		case <-l.settled:
		case <-ctx.Done():
			select {
			case <-l.settled:
			default:
				late = append(late, l.Name)
			}
		}
	}
	return late
}

// Close ends the connections, and the servers that were started.
func (s *Set) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.start.Do(func() {})
	s.work.Wait()
}

func (s *Set) all() []*serverConn {
	if s == nil {
		return nil
	}
	return s.conns
}

// Status returns the status of all servers, sorted by name.
func (s *Set) Status() []Status { return lists.Map(s.all(), (*serverConn).status) }

// find returns the server of a name, nil if there is none.
func (s *Set) find(name string) *serverConn {
	for _, l := range s.all() {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Restart connects anew to the named servers, or to all servers without names. Servers that
// are off stay off.
func (s *Set) Restart(names ...string) {
	for _, l := range s.all() {
		if len(names) == 0 || slices.Contains(names, l.Name) {
			l.reconnect()
		}
	}
}

// Switch switches a server off, and says why, or on again if why is "".
func (s *Set) Switch(name, why string) error {
	l := s.find(name)
	if l == nil {
		return fmt.Errorf("there is no MCP server %s", text.PrintableLine(name))
	}
	l.mu.Lock()
	l.DisabledReason = why
	l.mu.Unlock()
	l.reconnect()
	return nil
}

// tellRoots tells servers which directories are worked in, if that has changed.
func (s *Set) tellRoots() {
	if s.Roots == nil {
		return
	}
	now := s.Roots()
	s.mu.Lock()
	changed := s.roots != nil && !slices.Equal(now, s.roots)
	s.roots = slices.Clone(now)
	s.mu.Unlock()
	if !changed {
		return
	}
	for _, l := range s.all() {
		if c := l.conn.Load(); c != nil {
			optional(s.ctx, func(ctx context.Context) { c.conn.Notify(ctx, protocol.MethodNotificationRootsListChanged, nil) })
		}
	}
}

// optional sends a server something that it need not understand, and does not wait for it.
func optional(ctx context.Context, say func(context.Context)) {
	go func() {
		ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
		defer cancel()
		say(ctx)
	}()
}

// An Instruction is what a server wants the model to know.
type Instruction struct{ Server, Text string }

// Instructions returns what the servers that are connected want the model to know.
func (s *Set) Instructions() (list []Instruction) {
	for _, st := range s.Status() {
		if st.State == Connected && strings.TrimSpace(st.Instructions) != "" {
			list = append(list, Instruction{st.Name, st.Instructions})
		}
	}
	return list
}

func (s *Set) notify(format string, args ...any) {
	if s.Notify != nil {
		s.Notify(text.PrintableLine(fmt.Sprintf(format, args...)))
	}
}

func (s *Set) log(server, said string) {
	if s.Log != nil {
		s.Log(server, said)
	}
}
