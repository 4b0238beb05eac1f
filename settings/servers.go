package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/jsonc"
)

// A Server is an MCP server as a file defines it.
type Server struct {
	Name    string
	Trusted bool // its tools run unasked
	Scope   Scope
	File    string
	Line    int // 0 if unknown

	Command string
	Args    []string
	Env     map[string]string
	Dir     string

	URL, HTTPURL string
	Type         string // stdio, http or sse; may be empty
	Headers      map[string]string

	Timeout          time.Duration
	Description      string
	Include, Exclude []string // nil if not set
	Off              bool     // it must not be started

	Raw map[string]any // all fields of the file; of a project's file, with variables unexpanded
	Err error          // why it can't be used

	Unset []string // its unset variables, a sentence each
}

// serverOf reads a server's entry in a file, and returns its problems.
func serverOf(name string, value any) (s Server, problems []Problem) {
	s.Name = name
	tree, ok := value.(map[string]any)
	if !ok {
		s.Err = errors.New("it is no object")
		return s, nil
	}
	s.Raw = tree
	var said struct {
		Command, Cwd, URL, HTTPURL, Type, Description string
		Args                                          []string
		Env, Headers                                  map[string]any
		Timeout                                       float64
		Trust, Disabled                               bool
		Enabled                                       *bool
		IncludeTools, ExcludeTools                    []string
	}
	given := maps.Clone(tree)
	maps.DeleteFunc(given, func(_ string, v any) bool { return v == nil }) // other programs write null for an unset value
	var c checker
	kept, _ := c.walk([]string{"mcpServers", name}, catalogue().next("mcpServers").next(name), given)
	for _, p := range c.problems {
		if p.fatal {
			s.note(p)
		}
	}
	b, err := json.Marshal(kept)
	if err == nil {
		err = json.Unmarshal(b, &said)
	}
	if err != nil {
		s.Err = err
		return s, nil
	}
	s.Command, s.Args, s.Dir = said.Command, said.Args, said.Cwd
	s.URL, s.HTTPURL, s.Type, s.Description = said.URL, said.HTTPURL, said.Type, said.Description
	s.Env, s.Headers = texts(said.Env), texts(said.Headers)
	s.Timeout, s.Trusted = time.Duration(said.Timeout*float64(time.Millisecond)), said.Trust
	s.Include, s.Exclude = said.IncludeTools, said.ExcludeTools
	s.Off = said.Disabled || said.Enabled != nil && !*said.Enabled
	if strings.HasPrefix(s.Type, "streamable") {
		s.Type = "http"
	}
	return s, c.problems
}

// texts converts values to texts.
func texts(in map[string]any) map[string]string {
	if in == nil {
		return nil
	}
	out := map[string]string{}
	for name, v := range in {
		if s, ok := v.(string); ok {
			out[name] = s
		} else if v != nil {
			out[name] = fmt.Sprint(v)
		}
	}
	return out
}

// Servers returns the MCP servers of the files, by name. A project's server that equals a server of
// a weaker file counts as that file's: it needs no consent.
func (s *Settings) Servers() []Server {
	found, texts := map[string]Server{}, map[string]any{}
	for i := range s.layers {
		l := &s.layers[i]
		for name, v := range In[map[string]any](l.tree, "mcpServers") {
			written := l.written([]string{"mcpServers", name})
			weaker := texts[name]
			texts[name] = l.doc.Written(written)
			if l.Scope == Workspace { // its variables are expanded later, within its rights
				if v = texts[name]; reflect.DeepEqual(v, weaker) {
					continue
				}
			}
			server, _ := serverOf(name, v) // its problems are listed with those of the file
			server.Scope, server.File = l.Scope, l.Path
			server.Line, _ = l.doc.Position(written)
			for _, p := range l.Problems {
				if starts(p.path, []string{"mcpServers", name}) {
					server.note(p)
				}
			}
			found[name] = server
		}
		if command := In[string](l.tree, "mcp", "serverCommand"); strings.TrimSpace(command) != "" {
			server, _ := serverOf("mcp", map[string]any{"command": "sh", "args": []any{"-c", "exec " + command}})
			server.Scope, server.File = l.Scope, l.Path
			server.Line, _ = l.doc.Position(l.written([]string{"mcp", "serverCommand"}))
			found[server.Name] = server
		}
	}
	return slices.SortedFunc(maps.Values(found), byName)
}

func byName(a, b Server) int { return strings.Compare(a.Name, b.Name) }

// maxServers is the largest size of a file of servers, in bytes.
const maxServers = 1 << 20

// ProjectServers returns the MCP servers in the .mcp.json of a trusted project, with variables
// unexpanded. The file need not exist.
func ProjectServers(path string) ([]Server, error) {
	b, err := disk.Read(path, maxServers)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := jsonc.Parse(path, b)
	if err != nil {
		return nil, err
	}
	servers, ok := doc.Tree["mcpServers"].(map[string]any)
	if !ok && len(doc.Tree) > 0 {
		return nil, fmt.Errorf(`%s: it must hold {"mcpServers": {"NAME": {...}}}`, path)
	}
	list := ServersIn(servers, nil)
	for i := range list {
		s := &list[i]
		s.Scope, s.File = Workspace, path
		for _, twice := range doc.Twice {
			if twice[0] == "mcpServers" && (len(twice) == 1 || twice[1] == s.Name) {
				s.Unset = append(s.Unset, repeated(twice))
			}
		}
		s.Place(path)
	}
	return list, nil
}

// Place adds the file's path to messages about the server's values.
func (s *Server) Place(path string) {
	for i, said := range s.Unset {
		s.Unset[i] = path + ": " + said
	}
}

// Filled returns s with expanded variables. The result does not have the problems of s.
func (s Server) Filled(lookup func(string) (string, bool)) Server {
	tree := jsonc.Map(s.Raw, func(v any) any { return v }) // a copy, which is expanded in place
	list := ServersIn(map[string]any{s.Name: tree}, lookup)
	out := list[0]
	out.Scope, out.File, out.Line = s.Scope, s.File, s.Line
	return out
}

// plainKeys are the keys of a server that start and send nothing, or that [DescribeServer] shows first.
var plainKeys = []string{"cwd", "env", "headers", "type", "trust", "timeout", "disabled", "enabled", "includeTools",
	"excludeTools", "description", "extension"}

// DescribeServer describes a server as its file has it: its address, or else its command, and its
// other values that reach a program or a request. Likely secrets are masked, but variables, an
// address without its secrets, and all that can become a command are shown.
func DescribeServer(written map[string]any) (start, with string) {
	said := maps.Clone(written)
	take := func(key string) (s string) {
		if s, _ = said[key].(string); s != "" {
			delete(said, key)
		}
		return s
	}
	if start = take("httpUrl"); start == "" {
		start = take("url")
	}
	start = besideVariables(start, MaskText)
	if program, _ := said["command"].(string); start == "" && program != "" {
		args, _ := said["args"].([]any)
		start = strings.Join(lists.Map(append([]any{program}, args...), word), " ")
		delete(said, "command")
		delete(said, "args")
	}
	if dir, _ := said["cwd"].(string); dir != "" {
		with = ", in " + dir
	}
	for name, v := range sorted(In[map[string]any](said, "env")) {
		with += fmt.Sprintf(", with %s=%v", name, v)
	}
	for name, v := range sorted(In[map[string]any](said, "headers")) {
		with += fmt.Sprintf(", with the header %s: %v", name, MaskWritten([]string{name}, v))
	}
	for name, v := range sorted(said) {
		if v != nil && !slices.Contains(plainKeys, name) {
			with += ", with " + name + " " + text.Compact(MaskWritten([]string{name}, v))
		}
	}
	return start, with
}

// word returns a word of a command, in quotation marks unless its ends are clear.
func word(v any) string {
	s, ok := v.(string)
	if !ok {
		return text.Compact(v)
	}
	if s == "" || strings.ContainsAny(s, `"'`) || strings.ContainsFunc(s, unicode.IsSpace) {
		return strconv.Quote(s)
	}
	return s
}

// note stores the message of a problem with the server or its variables.
func (s *Server) note(p Problem) {
	switch {
	case p.fatal:
		s.Err = errors.New(p.Message)
	case p.unset:
		s.Unset = append(s.Unset, p.Message)
	}
}

// misspelled reports whether an unknown key of a server is likely a misspelled key. Files of other
// programs have other keys, and short keys often resemble gemline's.
func misspelled(path []string) bool {
	last := path[len(path)-1]
	return len(last) > 4 && last != "comment" && last != "transport" && strings.HasPrefix(Nearest(JoinKey(path)), "mcpServers.")
}

// ServersIn returns the MCP servers of an object by name, with variables expanded, unless lookup is
// nil.
func ServersIn(servers map[string]any, lookup func(string) (string, bool)) (list []Server) {
	for name, v := range servers {
		var c checker
		fill := filler{checker: &c, lookup: lookup}
		var err error
		if lookup != nil {
			v, err = fill.value([]string{"mcpServers", name}, v)
		}
		s, problems := serverOf(name, v)
		for _, p := range problems {
			p.Message = p.Advised()
			p.unset = lookup == nil && (!p.unknown || misspelled(p.path))
			s.note(p)
		}
		for _, p := range c.problems {
			s.note(p)
		}
		s.Err = cmp.Or(err, s.Err)
		list = append(list, s)
	}
	slices.SortFunc(list, byName)
	return list
}
