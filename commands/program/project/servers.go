package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings"
	"gemline/settings/consent"
	"gemline/settings/extension"
	"gemline/settings/jsonc"
	"gemline/tools/shell"
)

// A serverSet holds the MCP servers of a directory, and which of them run.
type serverSet struct {
	opts *Options
	list []mcpServer
}

// An mcpServer is a configured server with its origin.
type mcpServer struct {
	settings.Server
	extension string // the extension that the server comes from, or ""
	off       string // why the server is not used
}

// ofProject reports whether the project defines the server.
func (m mcpServer) ofProject() bool { return m.Scope == settings.Workspace }

// newServerSet returns the servers of the settings files, of a trusted project's .mcp.json and of
// the extensions. For each name, the strongest source wins.
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
			set.list[i] = mcpServer{Server: withUserSettings(s, set.list[i].Server), extension: from}
		}
	}
	list := o.Settings.Servers()
	if path := filepath.Join(o.Paths.Cwd, ".mcp.json"); o.projectFileCounts(path) {
		more, err := settings.ProjectServers(path)
		if err != nil {
			notify(text.PrintableLine(err.Error()))
		}
		list = append(list, more...)
	}
	for _, s := range list {
		add(s, "")
	}
	for _, x := range o.ActiveExtensions() {
		for _, s := range settings.ServersIn(x.Contents.Servers, nil) {
			s = extensionServer(o, x, s)
			s.File = x.Manifest()
			add(s, x.Name)
		}
	}
	for _, s := range o.User.EditorServers { // the user's editor
		set.list = slices.DeleteFunc(set.list, func(m mcpServer) bool { return m.Name == s.Name })
		set.list = append(set.list, mcpServer{Server: s})
	}
	set.switchOff(notify)
	for _, m := range set.list {
		m.printProblem(notify)
	}
	set.warnUnknown(fromFlag, o.Flags.Servers, notify)
	for _, said := range o.Settings.Values("mcp.excluded") {
		set.warnUnknown("mcp.excluded", said.Values, notify)
	}
	if len(o.Flags.Servers) == 0 { // the flag replaces mcp.allowed
		for _, said := range o.Settings.Values("mcp.allowed") {
			set.warnUnknown("mcp.allowed", said.Values, notify)
		}
	}
	if slices.ContainsFunc(set.list, mcpServer.ofProject) {
		if err := o.consents.readStored(); err != nil {
			notify(err.Error())
		}
	}
	return set
}

// extensionServer returns a server of an extension, with the extension's settings applied.
func extensionServer(o *Options, x extension.Extension, s settings.Server) settings.Server {
	values, variables := extensionValues(o, x), x.Variables(o.Paths.Cwd)
	s.Place(x.Manifest())
	wrong := s.Unset
	s = s.Filled(func(name string) (string, bool) {
		for _, known := range []map[string]string{variables, values} {
			if v, ok := known[name]; ok {
				return v, true
			}
		}
		if shell.IsCredential(name) {
			return withheldOwn, false
		}
		return o.Env.Lookup(name)
	})
	s.Env, s.Unset = merged(variables, merged(values, s.Env)), append(wrong, s.Unset...)
	s.Trusted, s.Scope = false, settings.User
	s.Dir = cmp.Or(s.Dir, x.Dir)
	return s
}

// fromFlag is the flag that names the servers to use.
const fromFlag = "--allowed-mcp-server-names"

// warnUnknown warns about names in a list that no server has. Lists in settings serve many folders,
// so there only a name close to a server's name counts as a mistake.
func (set *serverSet) warnUnknown(from string, list []string, notify func(string)) {
	known := lists.Map(set.list, func(m mcpServer) string { return m.Name })
	for _, name := range list {
		near := text.Misspelled(name, list, known)
		if from == fromFlag {
			near = text.Nearest(name, known)
		}
		if text.Among(known, strings.TrimSpace(name)) || from != fromFlag && near == "" {
			continue
		}
		said := fmt.Sprintf("%s: no MCP server is called %q", from, text.PrintableLine(name))
		if near != "" {
			said += "; did you mean " + text.PrintableLine(near) + "?"
		}
		notify(said)
	}
}

// withUserSettings returns a server of an extension with the user's settings applied.
func withUserSettings(s, user settings.Server) settings.Server {
	switch {
	case user.Command != "" || user.URL+user.HTTPURL != "":
		s.Command, s.Args, s.URL, s.HTTPURL, s.Type = user.Command, user.Args, user.URL, user.HTTPURL, user.Type
	case user.Args != nil:
		s.Args = user.Args
	}
	s.Env, s.Headers = merged(s.Env, user.Env), merged(s.Headers, user.Headers)
	s.Dir, s.Description = cmp.Or(user.Dir, s.Dir), cmp.Or(user.Description, s.Description)
	s.Timeout = cmp.Or(user.Timeout, s.Timeout)
	switch {
	case s.Include == nil:
		s.Include = user.Include
	case user.Include != nil:
		own := func(name string) string { return strings.TrimPrefix(name, engine.ServerPrefix(s.Name)) }
		s.Include = slices.DeleteFunc(slices.Clone(s.Include), func(name string) bool {
			return !slices.ContainsFunc(user.Include, func(other string) bool { return own(other) == own(name) })
		})
	}
	s.Exclude = slices.Concat(s.Exclude, user.Exclude)
	s.Trusted, s.Off = user.Trusted, s.Off || user.Off
	s.Err, s.Unset = cmp.Or(user.Err, s.Err), slices.Concat(s.Unset, user.Unset)
	return s
}

// switchOff stores the reason for each server that is not used.
func (set *serverSet) switchOff(notify func(string)) {
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
	disabled, err := disabledServers(o.Paths.User("mcp-server-enablement.json"), notify)
	if err != nil {
		notify("no MCP server is used, since it is not known which are switched off: " + text.PrintableLine(err.Error()))
	}
	for i := range set.list {
		m := &set.list[i]
		switch {
		case only && !text.Among(allowed, m.Name):
			m.off = "mcp.allowed does not name it"
			if len(o.Flags.Servers) > 0 {
				m.off = fromFlag + " does not name it"
			}
		case err != nil:
			m.off = "it is not known whether it is switched off"
		case m.Off:
			m.off = "where it is set up it is disabled"
		case text.Among(excluded, m.Name):
			m.off = "mcp.excluded names it"
		case text.Among(disabled, m.Name), m.extension != "" && text.Among(disabled, "ext:"+m.extension+":"+m.Name):
			m.off = "it is disabled"
		case m.Err != nil:
			m.off = m.Err.Error()
		}
	}
}

// disabledServers returns the names of servers that the user has switched off. An unreadable entry
// switches its server off.
func disabledServers(path string, notify func(string)) (names []string, err error) {
	const most = 1 << 20
	b, err := disk.Read(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var doc *jsonc.Document
	if err == nil {
		doc, err = jsonc.Parse(path, b)
	}
	if err != nil {
		return nil, err
	}
	for name, said := range doc.Members() {
		m, is := said.(map[string]any)
		if on, has := m["enabled"]; has || len(m) == 0 && is {
			said = on
		}
		switch fmt.Sprint(said) {
		case "true", "<nil>": // the entry has no effect
			continue
		case "false":
		default:
			notify(text.PrintableLine(fmt.Sprintf(`%s: %.100q must be {"enabled": true} or {"enabled": false}; it counts as false`, path, name)))
		}
		names = append(names, name)
	}
	return names, nil
}

// item returns a server as an item for consent.
func (set *serverSet) item(m mcpServer) item {
	start, with := settings.DescribeServer(m.Raw)
	w := question.ConsentItem{Title: "MCP server " + m.Name + with, Command: start}
	return item{name: m.Name, ofProject: m.ofProject(), consent: w, findStarted: func() (consent.Started, string) {
		b, _ := json.Marshal(m.Raw)
		s := startedBy(set.opts, m.Server)
		return s, s.Fingerprint("mcp", m.Name, string(b))
	}}
}

// items returns the used servers, as items for consent.
func (set *serverSet) items() []item {
	return lists.Map(lists.Filter(set.list, func(m mcpServer) bool { return m.off == "" }), set.item)
}

// startedBy finds the files that a server of the project starts.
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
func (set *serverSet) rights(m mcpServer) consent.Rights {
	return set.opts.consents.rights(set.item(m))
}

// printNotAgreed prints which servers are not used because nobody has agreed to them.
func (set *serverSet) printNotAgreed(notify func(string)) {
	printNotAgreed(set.opts, "MCP servers of this project are not used", set.items(), notify)
}

// address returns the address of a remote server, "" for a local one.
func (m mcpServer) address() string { return cmp.Or(m.HTTPURL, m.URL) }

// argv returns the command of a server.
func (m mcpServer) argv() []string {
	if m.Command == "" {
		return nil
	}
	return append([]string{m.Command}, m.Args...)
}

// printProblem prints why a configured server can't start, or which of its variables have no value.
func (m mcpServer) printProblem(notify func(string)) {
	switch {
	case m.Err != nil && m.off == m.Err.Error():
		notify(text.PrintableLine("MCP server " + m.Name + " is not started: " + m.off))
	case m.off == "":
		for _, what := range m.Unset {
			notify(text.PrintableLine(what))
		}
	}
}

// servers returns the MCP servers of the directory.
func (o *Options) servers(notify func(string)) *serverSet {
	if o.found.servers == nil { // otherwise the question of consent has found them
		o.found.servers = newServerSet(o, notify)
	}
	return o.found.servers
}
