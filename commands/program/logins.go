package program

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/tools/launch"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
	"gemline/tools/workspace"
)

// logins returns what all log-ins to servers share.
func (o *Options) logins() oauth.Config {
	account := auth.NewAccount(o.getenv, runtime.GOOS)
	return oauth.Config{Transport: o.network().Transport(), Web: webConfig(o),
		Store: oauth.NewStore(o.paths.User(), o.getenv),
		Know:  o.secrets.Know, Getenv: o.getenv, Account: account.Read, Metadata: account.Host}
}

// managedServers are the servers of a directory for sub-commands.
type managedServers struct {
	opts   *Options
	notify func(string)
	held   *mcp.Set // those of the session, nil if none is held

	// open returns what programs are started by, and what is worked in.
	open func() (*launch.Launcher, *workspace.Workspace, error)
}

// set returns the servers that are set up.
func (m managedServers) set() *serverSet {
	return m.opts.servers(m.notify)
}

// Status implements [cli.Servers].
func (m managedServers) Status(ctx context.Context, most time.Duration, names ...string) ([]mcp.Status, error) {
	if m.held != nil {
		return m.held.Status(), nil
	}
	quiet := func(string) {} // what fails is in the Status
	c := connector{opts: m.opts, notify: m.notify, note: quiet}
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
		l, w, err := m.open()
		if err != nil {
			return nil, err
		}
		c.launcher, c.roots = l, w.Roots
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
func (m managedServers) Login(name string) (*oauth.Client, error) {
	for _, s := range m.set().list {
		if s.Name != name || s.address() == "" {
			continue
		}
		if s.projects() {
			l, _, err := m.open()
			if err != nil {
				return nil, err
			}
			s = connector{opts: m.opts, launcher: l, notify: m.notify}.filled(s, m.set().rights(s))
		}
		o := s.login(s.address())
		if o.Provider != "" && o.Provider != "dynamic_discovery" {
			return nil, nil
		}
		return oauth.NewClient(m.opts.logins(), o)
	}
	return nil, nil
}

// Turn implements [cli.Servers].
func (m managedServers) Turn(name string, on bool) {
	why := "it is disabled"
	if on {
		why = ""
	}
	if m.held != nil {
		m.held.Switch(name, why) // it is there, as Status has said
	}
}

// Reload implements [cli.Servers].
func (m managedServers) Reload(names ...string) {
	if m.held != nil {
		m.held.Restart(names...)
	}
}
