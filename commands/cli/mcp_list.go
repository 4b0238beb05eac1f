package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/tools/mcp"
	"gemline/tools/mcp/oauth"
)

// readLines sends the lines of in to lines, and closes lines at the end of the input.
func readLines(in io.Reader, lines chan<- string) {
	defer close(lines)
	s := bufio.NewScanner(in)
	for s.Scan() {
		lines <- s.Text()
	}
}

type mcpList struct {
	Filter string `arg:"" optional:"" help:"Only servers with this in their name."`
	Desc   bool   `help:"With the servers' descriptions."`
	Schema bool   `help:"With the parameters of tools besides."`
	Wait   int    `placeholder:"SECONDS" default:"5" help:"How long to wait for servers."`
}

// A serverRecord is an MCP server in gemline mcp list --json.
type serverRecord struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Extension   string         `json:"extension,omitempty"`
	Transport   string         `json:"transport"`
	Command     []string       `json:"command,omitempty"`
	URL         string         `json:"url,omitempty"`
	State       mcp.State      `json:"state"`
	Why         string         `json:"why,omitempty"` // why it is off, its error, or its warnings
	Login       string         `json:"login,omitempty"`
	Title       string         `json:"title,omitempty"`
	Tools       []mcp.ToolInfo `json:"tools"`
	Prompts     []mcp.Prompt   `json:"prompts"`
	Resources   []mcp.Resource `json:"resources"`
	Templates   []mcp.Resource `json:"resource_templates"` // URIs with variables in braces

	detail detail // for lines
}

// A detail is the amount of text about a server.
type detail int

const (
	heads   detail = iota // the connection only
	names                 // also the names of tools and resources
	texts                 // also descriptions
	schemas               // also the parameters of tools
)

// loginWords describe states of a log-in.
var loginWords = map[oauth.State]string{oauth.LoggedIn: "OAuth", oauth.Expired: "OAuth expired",
	oauth.NoLogin: "OAuth not authenticated"}

// serverOf returns the record of a server.
func serverOf(ctx context.Context, servers Servers, s mcp.Status, detail detail) serverRecord {
	l := serverRecord{detail: detail, Name: s.Name, Description: s.Description, Extension: s.Extension,
		Transport: s.Transport, Command: settings.MaskWords(s.Command), URL: settings.MaskText(s.URL),
		State: s.State, Why: s.DisabledReason, Title: s.Title,
		Tools: append([]mcp.ToolInfo{}, s.Tools...), Prompts: append([]mcp.Prompt{}, s.Prompts...),
		Resources: append([]mcp.Resource{}, s.Resources...), Templates: append([]mcp.Resource{}, s.Templates...)}
	switch {
	case s.Transport == "" && s.URL == "":
		l.Transport = "stdio"
	case s.Transport == "":
		l.Transport = s.Kind
	}
	if s.Err != nil && l.Why == "" {
		l.Why = s.Err.Error()
	}
	l.Why = cmp.Or(l.Why, strings.Join(s.Warnings, "; "))
	if s.Err != nil && l.State == mcp.Connecting {
		l.State = mcp.Failed // a session tries again
	}
	if client, err := servers.Login(s.Name); err == nil && client != nil {
		if state, err := client.State(ctx); err == nil && (state != oauth.NoLogin || errors.Is(s.Err, oauth.ErrLogin)) {
			l.Login = loginWords[state]
		}
	}
	return l
}

// head returns the first line about a server.
func (l serverRecord) head() string {
	line := l.Name
	if l.Extension != "" {
		line += " (from " + l.Extension + ")"
	}
	line += ": " + cmp.Or(l.URL, strings.Join(l.Command, " "))
	if l.Transport != "" {
		line += " (" + l.Transport + ")"
	}
	switch {
	case l.State == mcp.Connected:
		line += " - Connected" + l.contents()
	case l.State == mcp.Off && l.Why == "it is disabled":
		line += " - Disabled"
	case l.State == mcp.Off && (strings.HasPrefix(l.Why, "mcp.") || strings.HasPrefix(l.Why, "--")):
		line += " - Blocked: " + l.Why
	case l.State == mcp.Off:
		line += " - Disabled: " + l.Why
	case l.State == mcp.Failed:
		line += " - Disconnected"
	default:
		line += " - Connecting"
	}
	if l.Login != "" {
		line += " (" + l.Login + ")"
	}
	return line
}

// contents counts the tools, prompts and resources of a server.
func (l serverRecord) contents() string {
	var parts []string
	count := func(n int, word string) {
		if n > 0 {
			parts = append(parts, text.Count(n, word))
		}
	}
	count(len(l.Tools), "tool")
	count(len(l.Prompts), "prompt")
	count(len(l.Resources), "resource")
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// mostResources is how many resources of a server are listed.
const mostResources = 10

// lines returns the tools, prompts and resources of a server as text.
func (l serverRecord) lines() []string {
	lines := []string{l.head()}
	switch {
	case l.State == mcp.Connected && l.Why != "":
		lines = append(lines, "  Warning: "+text.PrintableLine(l.Why))
	case l.State != mcp.Off && l.Why != "":
		lines = append(lines, "  Error: "+l.Why)
	}
	if l.detail == heads {
		return lines
	}
	described := func(text, blanks string) {
		if l.detail >= texts {
			lines = append(lines, indented(text, blanks)...)
		}
	}
	if l.detail >= texts && l.Description != "" {
		lines = append(lines, "  "+l.Description)
	}
	title := func(title string, n int) {
		if n > 0 {
			lines = append(lines, "  "+title+":")
		}
	}
	title("Tools", len(l.Tools))
	for _, t := range l.Tools {
		lines = append(lines, "  - "+t.Name)
		described(t.Description, "    ")
		if b, err := text.JSON(t.Schema, "  "); l.detail == schemas && err == nil && len(t.Schema) > 0 {
			lines = append(append(lines, "    Parameters:"), indented(string(b), "      ")...)
		}
	}
	title("Prompts", len(l.Prompts))
	for _, p := range l.Prompts {
		lines = append(lines, "  - "+p.Name)
		described(p.Description, "    ")
	}
	resources := func(name string, list []mcp.Resource) {
		title(name, len(list))
		for _, r := range list[:min(len(list), mostResources)] {
			line := "  - " + r.Name + " (" + r.URI + ")"
			if r.MIMEType != "" {
				line += " [" + r.MIMEType + "]"
			}
			lines = append(lines, line)
		}
	}
	resources("Resources", l.Resources)
	if more := len(l.Resources) - mostResources; more > 0 {
		lines = append(lines, fmt.Sprintf("    ... %d resources hidden", more))
	}
	resources("Resource templates", l.Templates)
	return lines
}

// indented returns the lines of a text, each behind blanks.
func indented(s, blanks string) (lines []string) {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	for l := range strings.SplitSeq(s, "\n") {
		lines = append(lines, blanks+l)
	}
	return lines
}

// Run lists the servers.
func (c *mcpList) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, servers Servers) error {
	list, err := servers.Status(ctx, 0)
	other := func(s mcp.Status) bool {
		return !strings.Contains(strings.ToLower(s.Name), strings.ToLower(c.Filter))
	}
	list = slices.DeleteFunc(list, other)
	if len(list) > 0 && c.Wait > 0 && ask.In != nil { // a session connects on its own
		named := lists.Map(list, func(s mcp.Status) string { return s.Name })
		list, err = servers.Status(ctx, time.Duration(c.Wait)*time.Second, named...)
		list = slices.DeleteFunc(list, other)
	}
	if err != nil {
		return err
	}
	detail := heads
	switch {
	case c.Schema:
		detail = schemas
	case c.Desc:
		detail = texts
	case ask.In == nil:
		detail = names
	}
	waiting := 0
	l := listingOf("servers", lists.Map(list, func(s mcp.Status) serverRecord {
		if s.State == mcp.Connecting || s.State == mcp.Waiting {
			waiting++
		}
		return serverOf(ctx, servers, s, detail)
	}))
	switch {
	case len(list) == 0 && c.Filter != "":
		message := fmt.Sprintf("No MCP server has %q in its name.", text.PrintableLine(c.Filter))
		if near := text.Nearest(c.Filter, lists.Map(find([]string{"mcp"}).Children, nodeName)); near != "" && ask.In != nil {
			message += fmt.Sprintf(" Did you mean gemline mcp %s?", near)
		}
		return misused("%s", message)
	case len(list) > 0:
		l.lines = append([]string{"Configured MCP servers:", ""}, l.lines...)
	}
	if ask.In == nil && waiting > 0 {
		l.lines = append([]string{fmt.Sprintf("MCP servers are starting up (%d initializing)...", waiting)}, l.lines...)
	}
	if here.Withheld {
		out.Notify("this folder is not trusted, and the servers that it sets up are not listed; " + ask.trusting())
	}
	return out.list(l, "No MCP servers configured.")
}

// trusting says how to trust a folder.
func (ask *Asker) trusting() string {
	if ask.In == nil { // in a session
		return "/permissions trust asks about it"
	}
	return "gemline trust add trusts it"
}

type mcpTest struct {
	Name string `arg:"" complete:"server" help:"The server's name."`
	Wait int    `placeholder:"SECONDS" default:"30" help:"How long to wait for the server."`
}

// Run connects to a server, and fails if the server can't be used.
func (c *mcpTest) Run(ctx context.Context, out *Output, servers Servers) error {
	s, err := findServer(ctx, servers, time.Duration(max(c.Wait, 1))*time.Second, c.Name)
	if err != nil {
		return err
	}
	l := serverOf(ctx, servers, s, texts)
	if err := out.show(l, l.lines()...); err != nil {
		return err
	}
	switch shown := text.PrintableLine(s.Name); {
	case s.State == mcp.Connected:
		return nil
	case s.State == mcp.Off:
		return fmt.Errorf("MCP server %s is not used: %s", shown, s.DisabledReason)
	case s.Err != nil:
		return &testError{"MCP server " + shown + " can't be used: " + text.OneLine(s.Err.Error(), 300), s.Err}
	}
	return fmt.Errorf("MCP server %s has not answered within %d s", text.PrintableLine(s.Name), max(c.Wait, 1))
}

// A testError is the reason why a server can't be used, with the next step.
type testError struct {
	message string
	cause   error
}

func (e *testError) Error() string { return e.message }
func (e *testError) Unwrap() error { return e.cause }
func (e *testError) Hint() string  { return Hint(e.cause) }

// A loginRecord is a server with a log-in, in gemline mcp auth --json.
type loginRecord struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

func (l loginRecord) lines() []string { return []string{fmt.Sprintf("  - %s (%s)", l.Name, l.State)} }

// listLogins lists the servers with a log-in.
func (out *Output) listLogins(ctx context.Context, servers Servers) error {
	list, err := servers.Status(ctx, 0)
	if err != nil {
		return err
	}
	var all []loginRecord
	for _, s := range list {
		client, err := servers.Login(s.Name)
		if err != nil || client == nil {
			continue
		}
		state, err := client.State(ctx)
		if err != nil {
			return err
		}
		all = append(all, loginRecord{s.Name, loginWords[state]})
	}
	l := listingOf("servers", all)
	if len(all) > 0 {
		l.lines = append([]string{"MCP servers with OAuth authentication:"}, l.lines...)
		l.lines = append(l.lines, "", "gemline mcp auth NAME logs in.")
	}
	return out.list(l, "No MCP servers configured with OAuth authentication.")
}
