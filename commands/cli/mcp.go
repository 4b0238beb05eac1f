package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
)

// Servers are the MCP servers that are set up for the working directory.
type Servers interface {
	// Status returns what is known of all servers, in the order of their names. It
	// connects to those of the given names, all if there are none, and waits for them at
	// most so long.
	Status(ctx context.Context, most time.Duration, names ...string) ([]mcp.Status, error)

	// Login returns what logs in to a server. It is nil if that takes no log-in of its own.
	Login(name string) (*oauth.Client, error)

	// Turn switches a server on or off in the session that is held, if there is one.
	Turn(name string, on bool)

	// Reload connects anew to servers of the session, to all if none is named.
	Reload(names ...string)
}

// mcpCommand is gemline mcp.
type mcpCommand struct {
	List    mcpList    `cmd:"" default:"withargs" help:"List the MCP servers, and whether they can be reached."`
	Add     mcpAdd     `cmd:"" help:"Set up a server, in a file of settings."`
	Remove  mcpRemove  `cmd:"" help:"Take a server out of a file of settings."`
	Enable  mcpEnable  `cmd:"" help:"Switch a server on again."`
	Disable mcpDisable `cmd:"" help:"Switch a server off, wherever it is set up."`
	Test    mcpTest    `cmd:"" help:"Connect to a server, and list what it has."`
	Auth    mcpAuth    `cmd:"" help:"Log in to a server, or list those that take a log-in."`
	Serve   Serving    `cmd:"" help:"Be a server, for other programs: ask gives gemline a task, and its tools can be called."`
	Reload  mcpReload  `cmd:"" hidden:"" help:"Connect to the servers anew, in a session."`
}

type mcpAdd struct {
	mcpWhere
	Transport   string   `short:"t" aliases:"type" placeholder:"KIND" help:"stdio, sse or http; http for an address, else stdio."`
	Env         []string `short:"e" placeholder:"NAME=VALUE" sep:"none" help:"A variable of the program; $$NAME is filled in when it starts. Repeat."`
	Header      []string `short:"H" placeholder:"FIELD" sep:"none" help:"A field of each request, as in \"X-Key: $$KEY\". Repeat."`
	Timeout     int      `placeholder:"MS" help:"How long a request may take, in milliseconds."`
	Trust       bool     `help:"Run the server's tools unasked."`
	Description string   `placeholder:"TEXT" help:"What the server is for."`
	Include     []string `name:"include-tools" placeholder:"TOOL" help:"Take no other tools; separate by commas."`
	Exclude     []string `name:"exclude-tools" placeholder:"TOOL" help:"Leave these tools out; separate by commas."`
	Name        string   `arg:"" help:"The server's name."`
	Command     []string `arg:"" passthrough:"partial" help:"The command with its arguments, or the address. Behind -- a flag is the command's in any case."`
}

// mcpWhere names a file of settings, as the Gemini CLI does for servers.
type mcpWhere struct {
	Scope string `short:"s" placeholder:"WHOSE" default:"project" help:"Whose file: project or user."`
}

func (m mcpWhere) source(w *World) (settings.Source, error) {
	switch m.Scope {
	case "user":
		return where{settings.User}.source(w)
	case "project", "workspace":
		return where{settings.Workspace}.source(w)
	}
	return settings.Source{}, &flags.UsageError{Message: fmt.Sprintf("--scope must be user or project, not %.100q", m.Scope)}
}

// An mcpEntry is a server as a file of settings has it.
type mcpEntry struct {
	Command      string          `json:"command,omitempty"`
	Args         []string        `json:"args,omitempty"`
	Env          json.RawMessage `json:"env,omitempty"`
	URL          string          `json:"url,omitempty"`
	Type         string          `json:"type,omitempty"`
	Headers      json.RawMessage `json:"headers,omitempty"`
	Timeout      int             `json:"timeout,omitempty"`
	Trust        bool            `json:"trust,omitempty"`
	Description  string          `json:"description,omitempty"`
	IncludeTools []string        `json:"includeTools,omitempty"`
	ExcludeTools []string        `json:"excludeTools,omitempty"`
}

// Run writes the server into a file of settings.
func (a *mcpAdd) Run(ctx context.Context, w *World) error {
	if err := a.trailing(); err != nil {
		return err
	}
	entry, err := a.entry()
	if err != nil {
		return err
	}
	src, err := a.source(w)
	if err != nil {
		return err
	}
	raw, err := text.JSON(entry, "")
	if err != nil {
		return err
	}
	path := []string{"mcpServers", a.Name}
	done, err := src.SetKey(ctx, settings.JoinKey(path), json.RawMessage(raw))
	if err != nil {
		return err
	}
	value := decoded(json.RawMessage(raw))
	r := change{Key: settings.JoinKey(path), Scope: src.Scope, Path: done.Path, Value: settings.MaskWritten(path, value), Changed: !done.Same}
	r.setBefore(path, done)
	verb := "added to"
	if done.Set {
		verb = "updated in"
	}
	kind := cmp.Or(entry.Type, "stdio")
	if entry.URL != "" && entry.Type == "" {
		kind = "http, or else sse"
	}
	r.text = fmt.Sprintf("MCP server %q %s %s settings. (%s)", a.Name, verb, a.Scope, kind)
	if leaks(value, r.Value) {
		r.note("a file of settings is no place for a secret: write $NAME, which is filled in from the environment")
	}
	r.noteEffect(w, src, done, path)
	return r.tell(w)
}

// trailing takes the flags that stand behind the command for gemline's own, as the Gemini CLI
// does. What it does not know is the command's, and all behind --.
func (a *mcpAdd) trailing() error {
	words, args := a.Command, []string{}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "--" {
			args = append(args, words...)
			break
		}
		name, value, given := strings.Cut(word, "=")
		if name == "--trust" && !given {
			a.Trust = true
			continue
		}
		set := a.flag(name)
		if set == nil || len(args) == 0 {
			args = append(args, word)
			continue
		}
		if !given {
			if len(words) == 0 {
				return &flags.UsageError{Message: name + " needs a value"}
			}
			value, words = words[0], words[1:]
		}
		if err := set(value); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		return &flags.UsageError{Message: "gemline mcp add needs a name, and a command or an address"}
	}
	a.Command = args
	return nil
}

// flag returns what sets a flag, nil if there is none of the name.
func (a *mcpAdd) flag(name string) func(string) error {
	text := func(to *string) func(string) error { return func(s string) error { *to = s; return nil } }
	list := func(to *[]string, sep string) func(string) error {
		return func(s string) error {
			if sep == "" {
				*to = append(*to, s)
			} else {
				*to = append(*to, strings.Split(s, sep)...)
			}
			return nil
		}
	}
	switch name {
	case "-s", "--scope":
		return text(&a.Scope)
	case "-t", "--transport", "--type":
		return text(&a.Transport)
	case "--description":
		return text(&a.Description)
	case "-e", "--env":
		return list(&a.Env, "")
	case "-H", "--header":
		return list(&a.Header, "")
	case "--include-tools":
		return list(&a.Include, ",")
	case "--exclude-tools":
		return list(&a.Exclude, ",")
	case "--timeout":
		return func(s string) error {
			if _, err := fmt.Sscan(s, &a.Timeout); err != nil || a.Timeout <= 0 {
				return &flags.UsageError{Message: fmt.Sprintf("--timeout needs milliseconds, not %.100q", s)}
			}
			return nil
		}
	}
	return nil
}

var serverName = regexp.MustCompile(`^[\pL\pN]([\pL\pN._-]{0,58}[\pL\pN])?$`)

// entry returns what is written.
func (a *mcpAdd) entry() (e mcpEntry, err error) {
	if !serverName.MatchString(a.Name) {
		return e, &flags.UsageError{Message: fmt.Sprintf("%.60q can't be the name of a server: that is letters and digits, and inside of it . _ and -, at most 60", a.Name)}
	}
	if a.Timeout < 0 {
		return e, &flags.UsageError{Message: fmt.Sprintf("--timeout needs milliseconds, not %d", a.Timeout)}
	}
	if scheme, _, ok := strings.Cut(a.Command[0], "://"); ok && scheme != "http" && scheme != "https" && !strings.ContainsAny(scheme, "/ ") {
		return e, &flags.UsageError{Message: fmt.Sprintf("%.200q is no address of a server, which begins with https:// or http://", a.Command[0])}
	}
	e = mcpEntry{Timeout: a.Timeout, Trust: a.Trust, Description: a.Description, IncludeTools: a.Include, ExcludeTools: a.Exclude}
	address := strings.HasPrefix(a.Command[0], "https://") || strings.HasPrefix(a.Command[0], "http://")
	switch kind := cmp.Or(a.Transport, map[bool]string{true: "http", false: "stdio"}[address]); {
	case kind == "stdio" && len(a.Header) > 0:
		return e, &flags.UsageError{Message: "--header is for an address, and this is a command"}
	case kind == "stdio":
		e.Command, e.Args = a.Command[0], a.Command[1:]
	case kind != "http" && kind != "sse":
		return e, &flags.UsageError{Message: fmt.Sprintf("--transport must be stdio, sse or http, not %.100q", kind)}
	case !address:
		return e, &flags.UsageError{Message: fmt.Sprintf("%.200q is no address, which begins with https:// or http://", a.Command[0])}
	case len(a.Command) > 1 || len(a.Env) > 0:
		return e, &flags.UsageError{Message: "arguments and --env are for a command, and this is an address"}
	default:
		if u, err := url.Parse(a.Command[0]); err != nil || u.Hostname() == "" {
			return e, &flags.UsageError{Message: fmt.Sprintf("%.200q is no address", a.Command[0])}
		}
		e.URL, e.Type = a.Command[0], a.Transport // of no kind, SSE is tried behind http
	}
	if e.Env, err = pairs(a.Env, "=", "--env"); err == nil {
		e.Headers, err = pairs(a.Header, ":", "--header")
	}
	return e, err
}

// pairs returns names with their values as an object, in the order in which they were given.
func pairs(list []string, sep, flag string) (json.RawMessage, error) {
	var b strings.Builder
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, sep)
		if name = strings.TrimSpace(name); !ok || name == "" { // the value may be a secret
			return nil, &flags.UsageError{Message: fmt.Sprintf("%s needs NAME%sVALUE", flag, sep)}
		}
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		one, err := text.JSON(map[string]string{name: value}, "")
		if err != nil {
			return nil, err
		}
		b.WriteString(map[bool]string{true: "{", false: ","}[b.Len() == 0])
		b.Write(one[1 : len(one)-1])
	}
	if b.Len() == 0 {
		return nil, nil
	}
	return json.RawMessage(b.String() + "}"), nil
}

type mcpRemove struct {
	mcpWhere
	Name string `arg:"" complete:"server" help:"The server's name."`
}

// Run takes a server out of a file of settings.
func (c *mcpRemove) Run(ctx context.Context, w *World) error {
	src, err := c.source(w)
	if err != nil {
		return err
	}
	path := []string{"mcpServers", c.Name}
	done, err := src.UnsetKey(ctx, settings.JoinKey(path))
	if err != nil {
		return err
	}
	r := change{Key: settings.JoinKey(path), Scope: src.Scope, Path: done.Path, Changed: !done.Same}
	r.setBefore(path, done)
	r.text = fmt.Sprintf("Server %q removed from %s settings.", c.Name, c.Scope)
	if !done.Set {
		return w.notRemoved(c.Name, c.Scope)
	}
	if w.elsewhere(c.Name) == "" { // nobody is called so any more
		if err := forgetServer(ctx, w.Paths.User("mcp-server-enablement.json"), c.Name); err != nil {
			return err
		}
	}
	return r.tell(w)
}

// notRemoved says that a server does not stand where it was to be taken out, and where it
// does.
func (w *World) notRemoved(name, scope string) error {
	advice := "gemline mcp list says which there are"
	if at := w.elsewhere(name); at != "" {
		advice = at
	}
	return &input.Error{Message: fmt.Sprintf("Server %q not found in %s settings.", name, scope), Advice: advice}
}

// elsewhere says where a server stands, and how it is taken out of there; "" if nowhere.
func (w *World) elsewhere(name string) string {
	for _, src := range settings.Sources(w.Paths, w.environment, w.Trusted) {
		for _, layer := range settings.Read([]settings.Source{src}, w.environment) {
			servers, _ := settings.Merge([]settings.Layer{layer})["mcpServers"].(map[string]any)
			switch {
			case servers[name] == nil:
			case src.Scope == settings.User:
				return "it stands in your settings: gemline mcp remove --scope user " + name
			case src.Scope == settings.Workspace:
				return "it stands in the project's settings: gemline mcp remove --scope project " + name
			default:
				return "it stands in " + layer.Path
			}
		}
	}
	list, _ := w.Extensions()
	for _, x := range list {
		if x.Servers[name] != nil {
			return "the extension " + x.Name + " brings it; gemline mcp disable " + name + " switches it off"
		}
	}
	if w.Trusted {
		list, _ := settings.ProjectServers(filepath.Join(w.Paths.Cwd, ".mcp.json"))
		if slices.ContainsFunc(list, func(s settings.Server) bool { return s.Name == name }) {
			return "it stands in the project's .mcp.json"
		}
	}
	return ""
}

// forgetServer takes out of a file that a server is off.
func forgetServer(ctx context.Context, path, name string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return turnInFile(ctx, path, strings.ToLower(name), true)
}

type (
	mcpEnable struct {
		Name    string `arg:"" complete:"server" help:"The server's name."`
		Session bool   `help:"For this session only."`
	}
	mcpDisable mcpEnable
)

// Run switches a server on.
func (c *mcpEnable) Run(ctx context.Context, w *World) error {
	return w.turnServer(ctx, c.Name, c.Session, true)
}

// Run switches a server off.
func (c *mcpDisable) Run(ctx context.Context, w *World) error {
	return w.turnServer(ctx, c.Name, c.Session, false)
}

// turnServer switches a server on or off: for this session, or for good.
func (w *World) turnServer(ctx context.Context, name string, session, on bool) error {
	if session && w.In != nil {
		return &flags.UsageError{Message: "--session is for a session: /mcp disable NAME --session"}
	}
	list, err := w.Servers.Status(ctx, 0)
	if err != nil {
		return err
	}
	found, err := findServer(list, name)
	if err != nil {
		return err
	}
	if on && strings.HasPrefix(found.Off, "mcp.") || strings.HasPrefix(found.Off, "--") {
		return fmt.Errorf("MCP server %s can't be switched on: %s", text.EscapeLine(found.Name), found.Off)
	}
	key := strings.ToLower(found.Name)
	if !session {
		if err := turnInFile(ctx, w.Paths.User("mcp-server-enablement.json"), key, on); err != nil {
			return err
		}
	}
	w.Servers.Turn(found.Name, on)
	said := fmt.Sprintf("MCP server '%s' %s.", key, map[bool]string{true: "enabled", false: "disabled"}[on])
	if session {
		said = strings.TrimSuffix(said, ".") + " for this session."
	}
	return w.show(struct {
		Name    string `json:"name"`
		Enabled bool   `json:"enabled"`
		Session bool   `json:"session"`
	}{found.Name, on, session}, said)
}

// turnInFile writes that a server is off, or takes that out.
func turnInFile(ctx context.Context, path, name string, on bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	unlock, err := disk.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	all := map[string]json.RawMessage{}
	b, err := disk.Read(path, 1<<20)
	switch {
	case err == nil && strings.TrimSpace(string(b)) != "":
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("%s holds no object; mend it or move it away", path)
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if delete(all, name); !on {
		all[name] = json.RawMessage(`{"enabled":false}`)
	}
	if b, err = text.JSON(all, "  "); err != nil {
		return err
	}
	return disk.Replace(path, append(b, '\n'), 0o600)
}

// findServer returns the server of a name, which may be in other letters.
func findServer(list []mcp.Status, name string) (mcp.Status, error) {
	var names []string
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if i := slices.IndexFunc(list, func(s mcp.Status) bool { return strings.EqualFold(s.Name, name) }); i >= 0 {
		return list[i], nil
	}
	message := fmt.Sprintf("Server '%s' not found. Use gemline mcp list to see available servers.", text.EscapeLine(name))
	if near := text.Nearest(name, names); near != "" {
		message = fmt.Sprintf("Server '%s' not found; did you mean %s?", text.EscapeLine(name), text.EscapeLine(near))
	}
	return mcp.Status{}, &flags.UsageError{Message: message}
}

type mcpReload struct{}

// Run connects to the servers of a session anew.
func (*mcpReload) Run(ctx context.Context, w *World) error {
	if w.In != nil {
		return &flags.UsageError{Message: "only a session has servers that it is connected to: /mcp reload"}
	}
	w.Servers.Reload()
	return w.lines([]string{"Reloading MCP servers..."})
}

type mcpAuth struct {
	Name      string `arg:"" optional:"" complete:"server" help:"The server's name."`
	NoBrowser bool   `help:"Start no browser, and print the address alone."`
	Browser   bool   `help:"Start one also where it would not be, as in a session by ssh."`
	Forget    bool   `help:"Forget the log-in."`
}

// Run logs in to a server.
func (c *mcpAuth) Run(ctx context.Context, w *World) error {
	list, err := w.Servers.Status(ctx, 0)
	if err != nil {
		return err
	}
	if c.Name == "" {
		return w.listLogins(ctx, list)
	}
	found, err := findServer(list, c.Name)
	if err != nil {
		return err
	}
	client, err := w.Servers.Login(found.Name)
	if err != nil {
		return err
	}
	shown := text.EscapeLine(found.Name)
	if client == nil {
		return &flags.UsageError{Message: fmt.Sprintf("%s takes no log-in: it is a program, or has Google's credentials", shown)}
	}
	if c.Forget {
		had, err := client.Logout(ctx)
		if err != nil {
			return err
		}
		said := "there was no log-in to " + shown
		if had {
			said = "the log-in to " + shown + " is forgotten here; the server may keep it"
		}
		return w.show(map[string]any{"name": found.Name, "forgotten": had}, said)
	}
	if err := client.Login(ctx, w.askLogin(c)); err != nil {
		return err
	}
	w.Servers.Reload(found.Name)
	return w.show(map[string]any{"name": found.Name, "logged_in": true}, fmt.Sprintf("Successfully authenticated with MCP server '%s'.", shown))
}

// askLogin returns what shows the user where to log in, and takes what is pasted.
func (w *World) askLogin(c *mcpAuth) oauth.Ask {
	lines := make(chan string)
	reading := false
	out := *w
	if w.Err != nil {
		out.Out = w.Err // standard output has what was asked for
	}
	return func(ctx context.Context, q oauth.Question) (string, error) {
		if q.Problem != "" {
			out.lines([]string{q.Problem})
		}
		if !reading {
			out.lines([]string{"log in to " + q.Server + " at this address:", q.URL})
			if w.Browse != nil && !c.NoBrowser {
				if said := w.Browse(q.URL, c.Browser); said != "" {
					out.lines([]string{said})
				}
			}
		}
		const paste = "paste the address that the browser ends at, unless this goes on by itself: "
		if w.Line != nil {
			reading = true
			return w.Line(ctx, paste)
		}
		if w.In == nil {
			reading = true
			return "", io.EOF
		}
		out.lines([]string{strings.TrimSuffix(paste, " ")})
		if !reading {
			reading = true
			go readLines(w.In, lines)
		}
		select {
		case line, ok := <-lines:
			if !ok {
				return "", io.EOF
			}
			return line, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
