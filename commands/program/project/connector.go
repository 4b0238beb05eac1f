package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gemline/engine/auth"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/consent"
	"gemline/settings/extension"
	"gemline/tools/agent"
	"gemline/tools/launch"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
	"gemline/tools/shell"
)

// serve returns the servers of a directory, nil if there are none. Open prints which servers are
// unused for lack of a decision.
func (c *Connections) serve(set *serverSet, open func(string)) *mcp.Set {
	if len(set.list) == 0 {
		return nil
	}
	set.printNotAgreed(open)
	return c.connect(set.list, set.rights)
}

// connect returns a set of servers. The set calls rights for a server right before it starts
// that server.
func (c *Connections) connect(list []mcpServer, rights func(mcpServer) consent.Rights) *mcp.Set {
	cfg := mcp.Config{Launcher: c.launcher, Version: c.opts.Env.Process.Version, Roots: c.roots, Notify: c.note,
		Log: c.log, Keep: c.keep}
	logins := sync.OnceValue(func() oauth.Config { return newLogins(c.opts) }) // made for the first remote server
	remote := map[string]oauth.Server{}                                        // by name
	cfg.Transport = func(s mcp.Server) (http.RoundTripper, error) { return oauth.New(logins(), remote[s.Name]) }
	cfg.Pins = &mcp.ToolPins{Path: c.opts.Paths.User("gemline", "mcp-tools.json"),
		Failed: func(err error) { c.note("descriptions of MCP servers' tools are not stored: " + err.Error()) }}
	for _, m := range list {
		filled := c.filled(m, rights(m))
		s := c.serverConfig(filled)
		if c.opts.User.Serving != nil && isServing(s.Command) {
			s.DisabledReason = "it is gemline itself"
		}
		s.Rights = func() (bool, error) {
			r := rights(m) // the present rights
			return r == consent.All, startable(c.opts, r)
		}
		if s.URL != "" {
			remote[s.Name] = filled.oauthServer(s.URL)
		}
		cfg.Servers = append(cfg.Servers, s)
	}
	return mcp.New(cfg)
}

// AgentServers returns an agent's own MCP servers, not yet connected. Servers of its definition run
// with the agent's rights, servers of the user's settings with the user's rights. Notify prints why
// a server can't start.
func (c *Connections) AgentServers(d agent.Definition, notify func(string)) *mcp.Set {
	o := c.opts
	set := &serverSet{opts: o}
	for _, m := range settings.ServersIn(d.Access.UserServers, nil) { // their variables are already expanded
		m.Scope = settings.User
		set.list = append(set.list, mcpServer{Server: m})
	}
	for _, m := range settings.ServersIn(d.Access.Servers, nil) {
		if d.Access.UserServers[m.Name] != nil {
			continue
		}
		switch x, brings := extensionOf(o, d); {
		case brings:
			m = extensionServer(o, x, m)
		case d.Source == AgentOfProject: // the rights decide which variables it sees
			m.Scope = settings.Workspace
		default:
			m.Scope = settings.User
			m = m.Filled(o.Env.Lookup)
		}
		m.File = d.File
		set.list = append(set.list, mcpServer{Server: m})
	}
	set.switchOff(notify)
	for _, m := range set.list {
		m.printProblem(notify)
	}
	rights := o.Agents().ServerRights(d)
	return c.connect(set.list, func(m mcpServer) consent.Rights {
		if m.ofProject() {
			return rights
		}
		return consent.All
	})
}

// extensionOf returns the extension that brings an agent.
func extensionOf(o *Options, d agent.Definition) (extension.Extension, bool) {
	list := o.ActiveExtensions()
	i := slices.IndexFunc(list, func(x extension.Extension) bool {
		return x.Name == d.Source && filepath.Dir(d.File) == filepath.Join(x.Dir, "agents")
	})
	if i < 0 {
		return extension.Extension{}, false
	}
	return list[i], true
}

// filled returns a server with its variables expanded within the rights. The server is switched off
// if it must not start.
func (c *Connections) filled(m mcpServer, rights consent.Rights) mcpServer {
	if m.ofProject() && m.off == "" {
		m.Server = m.Filled(c.VariablesFor(rights))
		m.Env = merged(c.opts.Env.projectVars(), m.Env)
		if err := cmp.Or(startable(c.opts, rights), m.Err); err != nil {
			m.off = err.Error()
		}
		m.printProblem(c.notify)
	}
	return m
}

// serverConfig returns a server in the form of package mcp.
func (c *Connections) serverConfig(m mcpServer) mcp.Server {
	s := mcp.Server{Name: m.Name, Description: m.Description, Extension: m.extension, Command: m.argv(),
		Dir: m.Dir, Env: m.Env,
		URL: m.address(), Kind: m.Type, Header: m.Headers, Timeout: m.Timeout, Include: m.Include, Exclude: m.Exclude, DisabledReason: m.off}
	if m.HTTPURL != "" {
		s.Kind = "http"
	}
	if s.Dir = c.opts.Paths.Folder(s.Dir); m.Dir == "" {
		s.Dir = c.opts.Paths.Cwd
	}
	return s
}

// oauthServer returns the OAuth configuration of a remote server at url.
func (m mcpServer) oauthServer(url string) oauth.Server {
	var said struct {
		AuthProviderType, TargetAudience, TargetServiceAccount string
		OAuth                                                  oauth.Server
	}
	b, _ := json.Marshal(m.Raw)
	json.Unmarshal(b, &said) // the settings' problems include a wrong type
	s := said.OAuth
	s.Name, s.URL, s.Provider = m.Name, url, said.AuthProviderType
	s.Audience, s.ServiceAccount = said.TargetAudience, said.TargetServiceAccount
	return s
}

// newLogins returns the configuration that all log-ins to servers share.
func newLogins(o *Options) oauth.Config {
	account := auth.NewAccount(o.Env.Getenv, runtime.GOOS)
	return oauth.Config{Transport: o.Network().Transport(), Web: WebConfig(o),
		Store:     oauth.NewStore(o.Paths.User(), o.Env.Getenv),
		AddSecret: o.Secrets.Add, Getenv: o.Env.Getenv, Account: account.Read, Metadata: account.Host}
}

// startable returns why a server with these rights must not start, nil if it may.
func startable(o *Options, r consent.Rights) error {
	switch r {
	case consent.All, consent.Confined:
		return nil
	case consent.None:
		return errors.New("you do not want this project's server to run; gemline trust remove takes that back")
	}
	return errors.New("nobody has agreed to what this project's server is now" + howAgreed(o))
}

// isServing reports whether a command starts gemline's own MCP server. While gemline serves
// programs, such a server is skipped: a folder's list of servers may be meant for several agents.
func isServing(argv []string) bool {
	return len(argv) > 0 && strings.HasPrefix(filepath.Base(argv[0]), "gemline") &&
		slices.Contains(argv, "mcp") && slices.Contains(argv, "serve")
}

// The reasons why a variable that is set is withheld.
const (
	withheldOwn    = "is withheld: gemline keeps its own credentials"
	withheldSecret = "is withheld as a secret: only programs with all your rights get it"
)

// VariablesFor returns a lookup of the variables that a project's settings may use. It has none of
// gemline's own credentials, and no secrets unless r is [consent.All]. The lookup returns why a
// variable is withheld in place of its value.
func (c *Connections) VariablesFor(r consent.Rights) func(string) (string, bool) {
	env := shell.UserEnvironment(c.opts.Env.Process.Environ())
	if r != consent.All {
		sealed := c.launcher.Config.Shell
		sealed.Reveal = false
		env = shell.Inherited(c.opts.Env.Process.Environ(), sealed)
	}
	if r == consent.All || r == consent.Confined {
		env = append(c.opts.Env.projectEnviron(), env...)
	}
	return func(name string) (string, bool) {
		value, ok := launch.Lookup(env, name)
		if _, set := c.opts.Env.Process.Lookup(name); set && !ok {
			if value = withheldSecret; shell.IsCredential(name) {
				value = withheldOwn
			}
		}
		return value, ok
	}
}

// ServerProblems lists servers of the directory that can't run, or only with limits. Notify prints
// other problems of servers.
func ServerProblems(o *Options, notify func(string)) (list []string) {
	c := &Connections{opts: o, notify: notify}
	for _, m := range o.servers(notify).list {
		m = c.filled(m, consent.All) // a user may grant less
		if m.off != "" {
			continue
		}
		said := mcp.CheckEnv(c.serverConfig(m))
		if err := mcp.CheckServer(c.serverConfig(m)); err != nil {
			said = []string{err.Error() + "; its tools are not there"}
		}
		for _, what := range said {
			list = append(list, "MCP server "+text.PrintableLine(m.Name)+": "+text.PrintableLine(what))
		}
	}
	return list
}
