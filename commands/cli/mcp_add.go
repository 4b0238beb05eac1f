package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/engine/text"
	"gemline/settings"
)

type mcpAdd struct {
	mcpWhere
	Transport string   `short:"t" aliases:"type" placeholder:"KIND" help:"stdio, sse or http; http for an address, else stdio."`
	Env       []string `short:"e" placeholder:"NAME=VALUE" sep:"none" help:"A variable of the program; $$NAME is filled in when it starts. Repeat."`
	Header    []string `short:"H" placeholder:"FIELD" sep:"none" help:"A field of each request, as in \"X-Key: $$KEY\". Repeat."`
	mcpOptions
	Name    string   `arg:"" help:"The server's name."`
	Command []string `arg:"" passthrough:"partial" help:"The command with its arguments, or the address. Behind -- a flag is the command's in any case."`
}

// mcpOptions are server options with the same form on the command line and in settings.
type mcpOptions struct {
	Timeout      int      `json:"timeout,omitempty" placeholder:"MS" help:"How long a request may take, in milliseconds."`
	Trust        bool     `json:"trust,omitempty" help:"Run the server's tools unasked."`
	Description  string   `json:"description,omitempty" placeholder:"TEXT" help:"What the server is for."`
	IncludeTools []string `json:"includeTools,omitempty" placeholder:"TOOL" help:"Take no other tools; separate by commas."`
	ExcludeTools []string `json:"excludeTools,omitempty" placeholder:"TOOL" help:"Leave these tools out; separate by commas."`
}

// An mcpEntry is a server in a settings file.
type mcpEntry struct {
	Command string          `json:"command,omitempty"`
	Args    []string        `json:"args,omitempty"`
	Env     json.RawMessage `json:"env,omitempty"`
	URL     string          `json:"url,omitempty"`
	Type    string          `json:"type,omitempty"`
	Headers json.RawMessage `json:"headers,omitempty"`
	mcpOptions
}

// Run writes the server into a settings file.
func (a *mcpAdd) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, src settings.Source) error {
	if i := slices.Index(a.Command, "--"); i >= 0 {
		a.Command = slices.Delete(a.Command, i, i+1)
	}
	if len(a.Command) == 0 {
		return misused("gemline mcp add needs a name, and a command or an address")
	}
	entry, err := a.entry()
	if err != nil {
		return err
	}
	raw, _ := text.JSON(entry, "") // it holds only texts, so it can't fail
	path := []string{"mcpServers", a.Name}
	done, err := src.SetKey(ctx, settings.JoinKey(path), json.RawMessage(raw))
	if err != nil {
		return err
	}
	r := changeOf(src, path, done, json.RawMessage(raw))
	verb := "added to"
	if done.HadValue {
		verb = "updated in"
	}
	kind := cmp.Or(entry.Type, "stdio")
	if entry.URL != "" && entry.Type == "" {
		kind = "http, or else sse"
	}
	r.text = fmt.Sprintf("MCP server %q %s %s settings. (%s)", a.Name, verb, a.Scope, kind)
	r.noteEffect(out, here, ask, src, done, path)
	return r.tell(out)
}

// flagsFirst moves gemline's own flags to the front of the words of gemline mcp add and gemline
// config set, where the grammar expects them: users may write them later. Other flags, and all
// words behind --, belong to the command or the value.
func flagsFirst(args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	var known []*kong.Flag
	switch args[0] + " " + args[1] {
	case "mcp add":
		known = find(args[:2]).Flags
	case "config set":
		known = slices.Concat(find(args[:2]).Flags, table().Flags) // includes --json
	default:
		return args, nil
	}
	own, rest, words := args[:2:2], args[2:], []string{}
	for len(rest) > 0 && rest[0] != "--" {
		name, _, given := strings.Cut(rest[0], "=")
		long, is := strings.CutPrefix(name, "--")
		n := 1
		i := slices.IndexFunc(known, func(f *kong.Flag) bool {
			return is && (long == f.Name || slices.Contains(f.Aliases, long)) || name == "-"+string(f.Short)
		})
		switch {
		case i < 0, given && known[i].IsBool():
			words = append(words, rest[0])
		case !given && !known[i].IsBool() && len(rest) == 1:
			return nil, misused("%s needs %s", name, cmp.Or(strings.ReplaceAll(known[i].Enum, ",", " or "), "a value"))
		case !given && !known[i].IsBool():
			n = 2
			fallthrough
		default:
			own = append(own, rest[:n]...)
		}
		rest = rest[n:]
	}
	return slices.Concat(own, words, rest), nil
}

var serverName = text.Pattern(`^[\pL\pN]([\pL\pN._-]{0,58}[\pL\pN])?$`)

// entry returns the entry to write.
func (a *mcpAdd) entry() (e mcpEntry, err error) {
	if !serverName().MatchString(a.Name) {
		return e, misused("%.60q can't be the name of a server: that is letters and digits, and inside of it . _ and -, at most 60", a.Name)
	}
	if a.Timeout < 0 {
		return e, misused("--timeout needs milliseconds, not %d", a.Timeout)
	}
	if scheme, _, ok := strings.Cut(a.Command[0], "://"); ok && scheme != "http" &&
		scheme != "https" && !strings.ContainsAny(scheme, "/ ") {
		return e, misused("%.200q is no address of a server, which begins with https:// or http://", a.Command[0])
	}
	e.mcpOptions = a.mcpOptions
	address := strings.HasPrefix(a.Command[0], "https://") || strings.HasPrefix(a.Command[0], "http://")
	switch kind := cmp.Or(a.Transport, map[bool]string{true: "http", false: "stdio"}[address]); {
	case kind == "stdio" && len(a.Header) > 0:
		return e, misused("--header is for an address, and this is a command")
	case kind == "stdio":
		e.Command, e.Args = a.Command[0], a.Command[1:]
	case kind != "http" && kind != "sse":
		return e, misused("--transport must be stdio, sse or http, not %.100q", kind)
	case !address:
		return e, misused("%.200q is no address, which begins with https:// or http://", a.Command[0])
	case len(a.Command) > 1 || len(a.Env) > 0:
		return e, misused("arguments and --env are for a command, and this is an address")
	default:
		if u, err := url.Parse(a.Command[0]); err != nil || u.Hostname() == "" {
			return e, misused("%.200q is no address", a.Command[0])
		}
		e.URL, e.Type = a.Command[0], a.Transport // without a type, gemline tries http, then SSE
	}
	if e.Env, err = pairs(a.Env, "=", "--env"); err == nil {
		e.Headers, err = pairs(a.Header, ":", "--header")
	}
	return e, err
}

// pairs returns names and values as a JSON object, in their given order.
func pairs(list []string, sep, flag string) (json.RawMessage, error) {
	var b strings.Builder
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, sep)
		if name = strings.TrimSpace(name); !ok || name == "" { // the error hides the value, which may be a secret
			return nil, misused("%s needs NAME%sVALUE", flag, sep)
		}
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		one, _ := text.JSON(map[string]string{name: value}, "")
		b.WriteString(map[bool]string{true: "{", false: ","}[b.Len() == 0])
		b.Write(one[1 : len(one)-1])
	}
	if b.Len() == 0 {
		return nil, nil
	}
	return json.RawMessage(b.String() + "}"), nil
}
