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

// ManagedServers are the MCP servers of a directory for sub-commands. They are a [cli.Servers].
type ManagedServers struct {
	Options   *Options
	Notify    func(string)
	Connected *mcp.Set // the servers of the session, nil outside of a session

	// Open returns the launcher of local servers, and the workspace with the directories for
	// servers.
	Open func() (*launch.Launcher, *workspace.Workspace, error)
}

// Status implements [cli.Servers].
func (m ManagedServers) Status(ctx context.Context, most time.Duration, names ...string) ([]mcp.Status, error) {
	if m.Connected != nil {
		return m.Connected.Status(), nil
	}
	quiet := func(string) {} // the Status holds the errors
	c := &Connections{opts: m.Options, notify: m.Notify, PrintNotice: quiet}
	only := *m.Options.servers(m.Notify)
	only.list = slices.Clone(only.list)
	for i := range only.list {
		s := &only.list[i]
		if len(names) > 0 && !slices.ContainsFunc(names,
			func(name string) bool { return strings.EqualFold(name, s.Name) }) {
			s.off = "it is not asked for"
		}
	}
	if len(only.list) > 0 { // their variables come from the launcher's environment
		l, w, err := m.Open()
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
func (m ManagedServers) Login(name string) (*oauth.Client, error) {
	for _, s := range m.Options.servers(m.Notify).list {
		if s.Name != name || s.address() == "" {
			continue
		}
		if s.ofProject() {
			l, _, err := m.Open()
			if err != nil {
				return nil, err
			}
			s = (&Connections{opts: m.Options, launcher: l, notify: m.Notify}).filled(s, m.Options.servers(m.Notify).rights(s))
		}
		o := s.oauthServer(s.address())
		if o.Provider != "" && o.Provider != "dynamic_discovery" {
			return nil, nil
		}
		return oauth.NewClient(newLogins(m.Options), o)
	}
	return nil, nil
}

// Turn implements [cli.Servers].
func (m ManagedServers) Turn(name string, on bool) {
	why := "it is disabled"
	if on {
		why = ""
	}
	if m.Connected != nil {
		m.Connected.Switch(name, why) // Status has found the server
	}
}

// Reload implements [cli.Servers].
func (m ManagedServers) Reload(names ...string) {
	if m.Connected != nil {
		m.Connected.Restart(names...)
	}
}
