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

// Config has the dependencies of a Set. The functions may be called on any goroutine.
type Config struct {
	Servers  []Server
	Launcher *launch.Launcher
	Roots    func() []string
	Version  string // of this program

	// Transport returns the transport for requests to a remote server, which adds its
	// credentials. Nil means the default.
	Transport func(Server) (http.RoundTripper, error)

	Notify func(text string)         // prints a warning, one line
	Log    func(server, text string) // receives the standard error and the log messages of servers; may be nil
	Pins   *ToolPins                 // the pinned tools; may be nil

	// Keep stores the standard error of a server, and returns the name of the file, "" if
	// there is none. It may be nil.
	Keep func(server, said string) (path string)
}

// A Set is the servers of a project. It is safe for concurrent use. The nil Set has none.
type Set struct {
	Config
	ctx    context.Context
	cancel context.CancelFunc
	conns  []*serverConn // never changed after New
	start  sync.Once
	work   sync.WaitGroup

	mu    sync.Mutex
	roots []string // as last sent to the servers
}

// New returns a Set. It makes no connection yet.
func New(cfg Config) *Set {
	s := &Set{Config: cfg}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	servers := slices.SortedFunc(slices.Values(cfg.Servers),
		func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	s.conns = lists.Map(servers, func(server Server) *serverConn { return newServerConn(s, server) })
	return s
}

// Start connects to the servers in the background.
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

// Wait waits until the first connection to each server has succeeded or failed, or until the
// time most is up. It returns the names of servers still connecting.
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

// find returns the server with a name, nil if there is none.
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

// Switch switches a server off for the reason why, or on again if why is "".
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

// tellRoots notifies servers of changed working directories.
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

// optional sends a server an optional message, in the background.
func optional(ctx context.Context, say func(context.Context)) {
	go func() {
		ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
		defer cancel()
		say(ctx)
	}()
}

// An Instruction is a server's instruction for the model.
type Instruction struct{ Server, Text string }

// Instructions returns the instructions of the connected servers.
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
