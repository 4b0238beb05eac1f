package project

import (
	"context"
	"slices"
	"strings"
	"time"

	"gemline/tools/launch"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
	"gemline/tools/workspace"
)

// ManagedServers are the servers of a directory for sub-commands.
type ManagedServers struct {
	Opts   *Options
	Notify func(string)
	Held   *mcp.Set // those of the session, nil if none is held

	// open returns what programs are started by, and what is worked in.
	Open func() (*launch.Launcher, *workspace.Workspace, error)
}

// set returns the servers that are set up.
func (m ManagedServers) set() *serverSet {
	return m.Opts.servers(m.Notify)
}

// Status implements [cli.Servers].
func (m ManagedServers) Status(ctx context.Context, most time.Duration, names ...string) ([]mcp.Status, error) {
	if m.Held != nil {
		return m.Held.Status(), nil
	}
	quiet := func(string) {} // what fails is in the Status
	c := Connector{Opts: m.Opts, Notify: m.Notify, Note: quiet}
	only := *m.set()
	only.list = slices.Clone(only.list)
	for i := range only.list {
		s := &only.list[i]
		if len(names) > 0 && !slices.ContainsFunc(names,
			func(name string) bool { return strings.EqualFold(name, s.Name) }) {
			s.off = "it is not asked for"
		}
	}
	if len(only.list) > 0 { // whose variables are filled in from the launcher's environment
		l, w, err := m.Open()
		if err != nil {
			return nil, err
		}
		c.Launcher, c.Roots = l, w.Roots
	}
	servers := c.serve(&only, quiet)
	defer servers.Close()
	if most > 0 && servers != nil {
		servers.Start()
		servers.Wait(ctx, most)
	}
	return servers.Status(), ctx.Err()
}

// Login implements [cli.Servers].
func (m ManagedServers) Login(name string) (*oauth.Client, error) {
	for _, s := range m.set().list {
		if s.Name != name || s.address() == "" {
			continue
		}
		if s.projects() {
			l, _, err := m.Open()
			if err != nil {
				return nil, err
			}
			s = Connector{Opts: m.Opts, Launcher: l, Notify: m.Notify}.filled(s, m.set().rights(s))
		}
		o := s.login(s.address())
		if o.Provider != "" && o.Provider != "dynamic_discovery" {
			return nil, nil
		}
		return oauth.NewClient(newLogins(m.Opts), o)
	}
	return nil, nil
}

// Turn implements [cli.Servers].
func (m ManagedServers) Turn(name string, on bool) {
	why := "it is disabled"
	if on {
		why = ""
	}
	if m.Held != nil {
		m.Held.Switch(name, why) // it is there, as Status has said
	}
}

// Reload implements [cli.Servers].
func (m ManagedServers) Reload(names ...string) {
	if m.Held != nil {
		m.Held.Restart(names...)
	}
}
