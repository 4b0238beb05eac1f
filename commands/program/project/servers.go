package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings"
	"gemline/settings/consent"
	"gemline/settings/extension"
	"gemline/tools/launch"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
	"gemline/tools/shell"
)

// A serverSet is the MCP servers that are set up for a directory, and which of them run.
type serverSet struct {
	opts *Options
	list []mcpServer
}

// An mcpServer is a configured server with its origin.
type mcpServer struct {
	settings.Server
	extension string // the extension that brings it, "" if none does
	off       string // the reason why it is not used
}

// projects reports whether the project defines the server.
func (m mcpServer) projects() bool { return m.Scope == settings.Workspace }

// newServerSet returns the servers of the files of settings, of a trusted project's
// .mcp.json and of the extensions, the strongest for each name.
func newServerSet(o *Options, notify func(string)) *serverSet {
	set := &serverSet{opts: o}
	add := func(s settings.Server, from string) {
		i := slices.IndexFunc(set.list, func(m mcpServer) bool { return m.Name == s.Name })
		switch {
		case i < 0:
			set.list = append(set.list, mcpServer{Server: s, extension: from})
		case from == "":
		case set.list[i].extension != "":
			notify(fmt.Sprintf("the MCP server %s of the extension %s is not used: %s has one of that name", text.PrintableLine(s.Name), from, set.list[i].extension))
		case set.list[i].Scope != settings.Workspace:
			set.list[i] = mcpServer{Server: tuned(s, set.list[i].Server), extension: from}
		}
	}
	for _, s := range o.Settings.Servers() {
		add(s, "")
	}
	if path := filepath.Join(o.Paths.Cwd, ".mcp.json"); o.brings(path) {
		list, err := settings.ProjectServers(path)
		if err != nil {
			notify(text.PrintableLine(err.Error()))
		}
		for _, s := range list {
			add(s, "")
		}
	}
	for _, x := range o.Active() {
		for _, s := range settings.ServersIn(x.Contents.Servers, nil) {
			s = broughtBy(o, x, s)
			s.File = x.Manifest()
			add(s, x.Name)
		}
	}
	for _, s := range o.User.Servers { // from the user's editor
		set.list = slices.DeleteFunc(set.list, func(m mcpServer) bool { return m.Name == s.Name })
		set.list = append(set.list, mcpServer{Server: s})
	}
	set.block()
	for _, m := range set.list {
		m.tell(notify)
	}
	for _, name := range o.Flags.Servers {
		set.known(strings.TrimSpace(name), notify)
	}
	if slices.ContainsFunc(set.list, mcpServer.projects) {
		if err := o.agreed.kept(); err != nil {
			notify(err.Error())
		}
	}
	return set
}

// broughtBy returns a server that an extension brings, with the values of its settings.
func broughtBy(o *Options, x extension.Extension, s settings.Server) settings.Server {
	values, variables := extensionValues(o, x), x.Variables(o.Paths.Cwd)
	s = s.Filled(func(name string) (string, bool) {
		for _, known := range []map[string]string{variables, values} {
			if v, ok := known[name]; ok {
				return v, true
			}
		}
		if shell.Credential(name) {
			return "", false
		}
		return o.Env.Lookup(name)
	})
	s.Env = merged(variables, merged(values, s.Env))
	s.Trusted, s.Scope = false, settings.User
	if s.Dir == "" {
		s.Dir = x.Dir
	}
	return s
}

// known prints a note if no server has a name that the command line gives.
func (set *serverSet) known(name string, notify func(string)) {
	var names []string
	for _, m := range set.list {
		if strings.EqualFold(m.Name, name) {
			return
		}
		names = append(names, m.Name)
	}
	said := fmt.Sprintf("--allowed-mcp-server-names: no MCP server is called %q", text.PrintableLine(name))
	if near := text.Nearest(name, names); near != "" {
		said += "; did you mean " + text.PrintableLine(near) + "?"
	}
	notify(said)
}

// tuned returns a server of an extension with the user's settings applied.
func tuned(s, user settings.Server) settings.Server {
	if user.Command != "" || user.URL+user.HTTPURL != "" {
		s.Command, s.Args, s.URL, s.HTTPURL, s.Type = user.Command, user.Args, user.URL, user.HTTPURL, user.Type
	}
	s.Env, s.Headers = merged(s.Env, user.Env), merged(s.Headers, user.Headers)
	if user.Dir != "" {
		s.Dir = user.Dir
	}
	if user.Timeout > 0 {
		s.Timeout = user.Timeout
	}
	if user.Description != "" {
		s.Description = user.Description
	}
	switch {
	case s.Include == nil:
		s.Include = user.Include
	case user.Include != nil:
		s.Include = slices.DeleteFunc(slices.Clone(s.Include),
			func(name string) bool { return !slices.Contains(user.Include, name) })
	}
	s.Exclude = slices.Concat(s.Exclude, user.Exclude)
	s.Trusted = user.Trusted
	return s
}

// merged returns both, where b wins.
func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// block notes for each unused server the reason.
func (set *serverSet) block() {
	o := set.opts
	if len(set.list) == 0 {
		return
	}
	allowed, only := o.Flags.Servers, len(o.Flags.Servers) > 0
	if !only {
		for _, said := range o.Settings.Values("mcp.allowed") {
			allowed, only = said.Values, true
		}
	}
	var excluded []string
	for _, said := range o.Settings.Values("mcp.excluded") {
		excluded = append(excluded, said.Values...)
	}
	disabled := disabledServers(o.Paths.User("mcp-server-enablement.json"))
	named := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), name) })
	}
	for i := range set.list {
		m := &set.list[i]
		switch {
		case only && !named(allowed, m.Name):
			m.off = "mcp.allowed does not name it"
			if len(o.Flags.Servers) > 0 {
				m.off = "--allowed-mcp-server-names does not name it"
			}
		case m.Off:
			m.off = "where it is set up it is disabled"
		case named(excluded, m.Name):
			m.off = "mcp.excluded names it"
		case named(disabled, m.Name), m.extension != "" && named(disabled, "ext:"+m.extension+":"+m.Name):
			m.off = "it is disabled"
		case m.Err != nil:
			m.off = m.Err.Error()
		}
	}
}

// disabledServers returns the names that the user has switched off.
func disabledServers(path string) (names []string) {
	const most = 1 << 20
	b, err := disk.Read(path, most)
	said := map[string]struct {
		Enabled *bool `json:"enabled"`
	}{}
	if err == nil {
		err = json.Unmarshal(b, &said)
	}
	for name, s := range said {
		if err == nil && s.Enabled != nil && !*s.Enabled {
			names = append(names, name)
		}
	}
	return names
}

// item returns a server in the form that the user agrees to.
func (set *serverSet) item(m mcpServer) item {
	w := question.ConsentItem{Title: "MCP server " + m.Name}
	if m.Dir != "" {
		w.Title += ", in " + m.Dir
	}
	if w.Command = strings.Join(m.words(), " "); m.Command == "" {
		w.Command = m.address()
	}
	for _, kv := range variables(m.Env) { // not expanded
		w.Title += ", with " + kv
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		w.Title += ", with the header " + name
	}
	return item{projects: m.projects(), consent: w, starts: func() (consent.Started, string) {
		b, _ := json.Marshal(m.Raw)
		s := startedBy(set.opts, m.Server)
		return s, s.Fingerprint("mcp", m.Name, string(b))
	}}
}

// items returns the used servers, in the form that the user agrees to.
func (set *serverSet) items() (list []item) {
	for _, m := range set.list {
		if m.off == "" {
			list = append(list, set.item(m))
		}
	}
	return list
}

// startedBy finds what a server of the project starts.
func startedBy(o *Options, m settings.Server) (s consent.Started) {
	if m.Command == "" {
		return s
	}
	argv := append([]string{m.Command}, m.Args...)
	s = startedFiles(o, o.Paths.Folder(m.Dir), m.Env, argv)
	if s.Unsure == "" && strings.Contains(strings.Join(append(argv, m.Dir), " "), "$") {
		s.Unsure = "a variable is filled in in what starts"
	}
	return s
}

// rights returns a server's rights, "" if the user has not decided about its present form.
func (set *serverSet) rights(m mcpServer) consent.Rights { return set.opts.agreed.rights(set.item(m)) }

// address returns the address of a remote server, "" for a local one.
func (m mcpServer) address() string {
	if m.HTTPURL != "" {
		return m.HTTPURL
	}
	return m.URL
}

// words returns the command of a server.
func (m mcpServer) words() []string {
	if m.Command == "" {
		return nil
	}
	return append([]string{m.Command}, m.Args...)
}

// startable returns the reason why a server with these rights must not start, nil if it may.
func startable(r consent.Rights) error {
	switch r {
	case consent.All, consent.Confined:
		return nil
	case consent.None:
		return errors.New("you do not want this project's server to run")
	}
	return errors.New("nobody has agreed to what this project's server is now" + howAgreed)
}

// A Connector connects to MCP servers.
type Connector struct {
	Opts     *Options
	Launcher *launch.Launcher // starts local servers
	Roots    func() []string  // the directories of the workspace
	Notify   func(string)     // prints why a wanted server is not started
	Note     func(string)     // prints a note about a connected server
	Log      func(server, said string)
	Keep     func(server, said string) (path string)
}

// filled returns a server with the project's variables filled in by the rights, switched off
// if it must not start.
func (c Connector) filled(m mcpServer, rights consent.Rights) mcpServer {
	if m.projects() && m.off == "" {
		m.Server = m.Filled(c.SeenBy(rights))
		m.Env = merged(c.Opts.Env.projectVars(), m.Env)
		if err := cmp.Or(startable(rights), m.Err); err != nil {
			m.off = err.Error()
		}
		m.tell(c.Notify)
	}
	return m
}

// tell prints why a wanted server can't start, or which of its variables stay unfilled.
func (m mcpServer) tell(notify func(string)) {
	switch {
	case m.Err != nil && m.off == m.Err.Error():
		notify(text.PrintableLine("MCP server " + m.Name + " is not started: " + m.off))
	case m.off == "":
		for _, what := range m.Unset {
			notify(text.PrintableLine(what))
		}
	}
}

// described returns a server in the form that the connection needs.
func (c Connector) described(m mcpServer) mcp.Server {
	s := mcp.Server{Name: m.Name, Description: m.Description, From: m.extension, Command: m.words(),
		Dir: m.Dir, Env: m.Env,
		URL: m.address(), Kind: m.Type, Header: m.Headers, Timeout: m.Timeout, Include: m.Include, Exclude: m.Exclude, Off: m.off}
	if m.HTTPURL != "" {
		s.Kind = "http"
	}
	if s.Dir = c.Opts.Paths.Folder(s.Dir); m.Dir == "" {
		s.Dir = c.Opts.Paths.Cwd
	}
	return s
}

// login returns how gemline authenticates to a remote server.
func (m mcpServer) login(url string) oauth.Server {
	var said struct {
		AuthProviderType, TargetAudience, TargetServiceAccount string
		OAuth                                                  struct {
			ClientID, ClientSecret, Issuer, AuthorizationURL, TokenURL string
			RegistrationURL, RedirectURI, TokenParamName               string
			Scopes, Audiences                                          []string
		}
	}
	b, _ := json.Marshal(m.Raw)
	json.Unmarshal(b, &said) // wrong types were printed with the settings' problems
	o := said.OAuth
	return oauth.Server{Name: m.Name, URL: url, Provider: said.AuthProviderType,
		Audience: said.TargetAudience, ServiceAccount: said.TargetServiceAccount,
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, Issuer: o.Issuer, AuthorizationURL: o.AuthorizationURL,
		TokenURL: o.TokenURL, RegistrationURL: o.RegistrationURL, RedirectURI: o.RedirectURI, TokenParam: o.TokenParamName, Scopes: o.Scopes, Audiences: o.Audiences}
}

// SeenBy returns a lookup of the variables that a project's settings may use: none of
// gemline's own credentials, and without the user's consent no secrets.
func (c Connector) SeenBy(r consent.Rights) func(string) (string, bool) {
	env := shell.Own(c.Opts.Env.Process.Environ())
	if r != consent.All {
		sealed := c.Launcher.Config.Shell
		sealed.Reveal = false
		env = shell.Inherited(c.Opts.Env.Process.Environ(), sealed)
	}
	if r == consent.All || r == consent.Confined {
		env = append(c.Opts.Env.projectEnviron(), env...)
	}
	return func(name string) (string, bool) { return launch.Lookup(env, name) }
}

// Servers returns the MCP servers of the directory.
func (o *Options) Servers(notify func(string)) *serverSet {
	if o.Found.servers == nil { // else they were found when the user was asked about them
		o.Found.servers = newServerSet(o, notify)
	}
	return o.Found.servers
}

// Wrong returns the servers that can never run, with the reason.
func (set *serverSet) Wrong(o *Options) (list []string) {
	for _, m := range set.list {
		if err := mcp.Wrong((Connector{Opts: o}).described(m)); m.off == "" && err != nil {
			list = append(list, "MCP server "+text.PrintableLine(m.Name)+": "+text.PrintableLine(err.Error())+"; its tools are not there")
		}
	}
	return list
}

// Serve returns the servers of a directory, nil if there are none. Open prints which are
// unused because the user has not decided about them.
func (c Connector) Serve(set *serverSet, open func(string)) *mcp.Set {
	if len(set.list) == 0 {
		return nil
	}
	var names []string
	for _, m := range set.list {
		if !m.projects() || m.off != "" || set.rights(m) != "" {
			continue
		}
		if !agreedByFlag(c.Opts, set.item(m)) {
			names = append(names, text.PrintableLine(m.Name))
		}
	}
	if len(names) > 0 {
		open("MCP servers of this project are not used, since nobody has agreed to what they are now: " +
			strings.Join(names, ", ") + howAgreed)
	}
	return c.connected(set.list, set.rights)
}

// connected returns a set of servers, each with its rights of the moment.
func (c Connector) connected(list []mcpServer, rights func(mcpServer) consent.Rights) *mcp.Set {
	cfg := mcp.Config{Launcher: c.Launcher, Version: c.Opts.Env.Process.Version, Roots: c.Roots, Notify: c.Note,
		Log: c.Log, Keep: c.Keep}
	logins := sync.OnceValue(func() oauth.Config { return newLogins(c.Opts) }) // when the first remote server is connected to
	var remote map[string]oauth.Server                                         // by name
	cfg.Transport = func(s mcp.Server) (http.RoundTripper, error) { return oauth.New(logins(), remote[s.Name]) }
	cfg.Pins = &mcp.ToolPins{Path: c.Opts.Paths.User("gemline", "mcp-tools.json"),
		Failed: func(err error) { c.Note("what MCP servers say of their tools is not kept: " + err.Error()) }}
	for _, m := range list {
		filled := c.filled(m, rights(m))
		s := c.described(filled)
		if c.Opts.User.Serving != nil && isServing(s.Command) {
			s.Off = "it is gemline itself"
		}
		s.Rights = func() (bool, error) {
			r := rights(m) // as they are now
			return r == consent.All, startable(r)
		}
		if s.URL != "" {
			if remote == nil {
				remote = map[string]oauth.Server{}
			}
			remote[s.Name] = filled.login(s.URL)
		}
		cfg.Servers = append(cfg.Servers, s)
	}
	return mcp.New(cfg)
}

// isServing reports whether a command starts gemline's own MCP server: a folder's list of
// servers may be meant for several agents.
func isServing(argv []string) bool {
	return len(argv) > 0 && strings.HasPrefix(filepath.Base(argv[0]), "gemline") &&
		slices.Contains(argv, "mcp") && slices.Contains(argv, "serve")
}
