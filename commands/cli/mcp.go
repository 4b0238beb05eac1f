package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
)

// Servers are the MCP servers of the working directory.
type Servers interface {
	// Status returns the state of all servers, in the order of their names. It connects to the
	// named servers, or to all without names, and waits for them no longer than most.
	Status(ctx context.Context, most time.Duration, names ...string) ([]mcp.Status, error)

	// Login returns the client that logs in to a server, nil if the server has no log-in of
	// its own.
	Login(name string) (*oauth.Client, error)

	// Turn switches a server on or off in the current session, if there is a session.
	Turn(name string, on bool)

	// Reload reconnects the named servers of the session, or all without names.
	Reload(names ...string)
}

// mcpCommand is gemline mcp.
type mcpCommand struct {
	List    mcpList   `cmd:"" default:"withargs" help:"List the MCP servers, and whether they can be reached." slash:"list,ls,nodesc,nodescription"`
	Add     mcpAdd    `cmd:"" help:"Set up a server, in a file of settings."`
	Remove  mcpRemove `cmd:"" help:"Take a server out of a file of settings."`
	Enable  mcpTurn   `cmd:"" help:"Switch a server on again." slash:"enable"`
	Disable mcpTurn   `cmd:"" help:"Switch a server off, wherever it is set up." slash:"disable"`
	Test    mcpTest   `cmd:"" help:"Connect to a server, and list its tools, prompts and resources."`
	Auth    mcpAuth   `cmd:"" help:"Log in to a server, or list the servers that take a log-in." slash:"auth"`
	Serve   Serving   `cmd:"" help:"Be a server, for other programs: ask gives gemline a task, and its tools can be called."`
	Reload  mcpReload `cmd:"" hidden:"" help:"Connect to the servers anew, in a session." slash:"reload,refresh"`
}

// mcpWhere names a settings file, with the Gemini CLI's words for servers.
type mcpWhere struct {
	Scope string `short:"s" placeholder:"WHOSE" default:"project" enum:"project,user,workspace" help:"Whose file: project or user."`
}

// ProvideSource returns the chosen settings file.
func (m mcpWhere) ProvideSource(here *Folder) (settings.Source, error) {
	if m.Scope == "user" {
		return here.file(settings.User)
	}
	return here.file(settings.Workspace)
}

type mcpRemove struct {
	mcpWhere
	Name string `arg:"" complete:"server" help:"The server's name."`
}

// Run removes a server from a settings file.
func (c *mcpRemove) Run(ctx context.Context, out *Output, here *Folder, installed Extensions, src settings.Source) error {
	path := []string{"mcpServers", c.Name}
	done, err := src.UnsetKey(ctx, settings.JoinKey(path))
	if err != nil {
		return err
	}
	r := changeOf(src, path, done, nil)
	r.text = fmt.Sprintf("Server %q removed from %s settings.", c.Name, c.Scope)
	if !done.HadValue {
		return &flags.UsageError{Message: fmt.Sprintf("Server %q not found in %s settings.", c.Name, c.Scope),
			Advice: cmp.Or(here.locateServer(installed, c.Name), "gemline mcp list says which there are")}
	}
	if here.locateServer(installed, c.Name) == "" { // no server has the name any more
		if err := forgetServer(ctx, here.Paths.User("mcp-server-enablement.json"), c.Name); err != nil {
			return err
		}
	}
	return r.tell(out)
}

// locateServer says where a server is defined, and how to remove it there; "" if it is not defined.
func (here *Folder) locateServer(installed Extensions, name string) string {
	s, _ := here.settings() // the valid files count, even beside a broken file
	if files := s.Values(settings.JoinKey([]string{"mcpServers", name})); len(files) > 0 {
		switch files[0].Scope {
		case settings.User:
			return "it stands in your settings: gemline mcp remove --scope user " + name
		case settings.Workspace:
			return "it stands in the project's settings: gemline mcp remove --scope project " + name
		}
		return "it stands in " + files[0].File
	}
	list, _ := installed()
	for _, x := range list {
		if x.Contents.Servers[name] != nil {
			return "the extension " + x.Name + " brings it; gemline mcp disable " + name + " switches it off"
		}
	}
	if here.Trusted {
		list, _ := settings.ProjectServers(filepath.Join(here.Paths.Cwd, ".mcp.json"))
		if slices.ContainsFunc(list, func(s settings.Server) bool { return s.Name == name }) {
			return "it stands in the project's .mcp.json"
		}
	}
	return ""
}

// forgetServer removes the entry of a disabled server from a file.
func forgetServer(ctx context.Context, path, name string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return turnInFile(ctx, path, strings.ToLower(name), true)
}

type mcpTurn struct {
	Name    string `arg:"" complete:"server" help:"The server's name."`
	Session bool   `help:"For this session only."`
}

// Run switches a server on or off: for this session, or permanently.
func (c *mcpTurn) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, servers Servers, on toggle) error {
	if c.Session && ask.In != nil {
		return misused("--session is for a session: /mcp disable NAME --session")
	}
	found, err := findServer(ctx, servers, 0, c.Name)
	if err != nil {
		return err
	}
	if bool(on) && (strings.HasPrefix(found.DisabledReason, "mcp.") || strings.HasPrefix(found.DisabledReason, "--")) {
		return fmt.Errorf("MCP server %s can't be switched on: %s", text.PrintableLine(found.Name), found.DisabledReason)
	}
	key := strings.ToLower(found.Name)
	if !c.Session {
		if err := turnInFile(ctx, here.Paths.User("mcp-server-enablement.json"), key, bool(on)); err != nil {
			return err
		}
	}
	servers.Turn(found.Name, bool(on))
	said := fmt.Sprintf("MCP server '%s' %s.", key, on.done())
	if c.Session {
		said = strings.TrimSuffix(said, ".") + " for this session."
	}
	return out.show(map[string]any{"name": found.Name, "enabled": on, "session": c.Session}, said)
}

// turnInFile stores that a server is disabled, or removes that entry.
func turnInFile(ctx context.Context, path, name string, on bool) error {
	return disk.ChangeObject(ctx, path, func(all map[string]json.RawMessage) {
		if delete(all, name); !on {
			all[name] = json.RawMessage(`{"enabled":false}`)
		}
	})
}

// findServer returns the server of a name. It waits for the connection, no longer than most.
func findServer(ctx context.Context, servers Servers, most time.Duration, name string) (mcp.Status, error) {
	f, err := serverFamily(ctx, servers, most, name)
	if err != nil {
		return mcp.Status{}, err
	}
	return f.find(name)
}

type mcpReload struct{}

// Run reconnects the servers of a session.
func (*mcpReload) Run(ctx context.Context, out *Output, ask *Asker, servers Servers) error {
	if ask.In != nil {
		return misused("only a session has servers that it is connected to: /mcp reload")
	}
	servers.Reload()
	return out.lines([]string{"Reloading MCP servers..."})
}

type mcpAuth struct {
	Name      string `arg:"" optional:"" complete:"server" help:"The server's name."`
	NoBrowser bool   `help:"Start no browser, and print the address alone."`
	Browser   bool   `help:"Start one also where it would not be, as in a session by ssh."`
	Forget    bool   `help:"Forget the log-in."`
}

// Run logs in to a server.
func (c *mcpAuth) Run(ctx context.Context, out *Output, ask *Asker, servers Servers) error {
	if c.Name == "" {
		return out.listLogins(ctx, servers)
	}
	found, err := findServer(ctx, servers, 0, c.Name)
	if err != nil {
		return err
	}
	client, err := servers.Login(found.Name)
	if err != nil {
		return err
	}
	shown := text.PrintableLine(found.Name)
	if client == nil {
		return misused("%s takes no log-in: it is a program, or has Google's credentials", shown)
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
		return out.show(map[string]any{"name": found.Name, "forgotten": had}, said)
	}
	if err := client.Login(ctx, out.askLogin(ask, c)); err != nil {
		return err
	}
	servers.Reload(found.Name)
	return out.show(map[string]any{"name": found.Name, "logged_in": true},
		fmt.Sprintf("Successfully authenticated with MCP server '%s'.", shown))
}

// askLogin returns a function that shows the user the log-in address, and reads a pasted address.
func (out *Output) askLogin(ask *Asker, c *mcpAuth) oauth.Ask {
	lines := make(chan string)
	reading := false
	told := *out
	if out.Err != nil {
		told.Out = out.Err // standard output is for the result
	}
	return func(ctx context.Context, q oauth.Question) (string, error) {
		if q.Problem != "" {
			told.lines([]string{q.Problem})
		}
		if !reading {
			told.lines([]string{"log in to " + q.Server + " at this address:", q.URL})
			if ask.Browse != nil && !c.NoBrowser {
				if said := ask.Browse(q.URL, c.Browser); said != "" {
					told.lines([]string{said})
				}
			}
		}
		const paste = "paste the address that the browser ends at, unless this goes on by itself: "
		if ask.Line != nil {
			reading = true
			return ask.Line(ctx, paste)
		}
		if ask.In == nil {
			reading = true
			return "", io.EOF
		}
		told.lines([]string{strings.TrimSuffix(paste, " ")})
		if !reading {
			reading = true
			go readLines(ask.In, lines)
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
