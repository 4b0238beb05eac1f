package agent

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"google.golang.org/genai"

	"gemline/engine/text"
)

// A FileError is why a file is no agent.
type FileError struct {
	File    string
	Line    int
	Message string
}

// Error names the place.
func (e *FileError) Error() string {
	return fmt.Sprintf("%s:%d: %s", text.EscapeLine(e.File), e.Line, e.Message)
}

// later is why agents elsewhere can't be called.
const later = "agents on other servers are not in use yet"

// Parse reads the agents of a file: one, or several that live on other servers. It is
// strict: what it does not know is an error, a [*FileError].
func Parse(file, source string) ([]Definition, error) {
	r := &reader{file: file}
	if !utf8.ValidString(source) {
		return nil, r.fail(nil, "it is not UTF-8")
	}
	head, body, ok := text.FrontMatter(source)
	if !ok {
		return nil, r.fail(nil, "it does not begin with a line --- and, further down, another one; what an agent is stands between them")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		return nil, r.syntax(&yaml.Node{Line: 1}, err)
	}
	if len(doc.Content) == 0 {
		return nil, r.fail(nil, "nothing stands between the lines ---")
	}
	print := fmt.Sprintf("%x", sha256.Sum256([]byte(source)))
	var list []Definition
	read := func(n *yaml.Node) {
		d := Definition{File: file, Print: print, Prompt: strings.TrimSpace(body)}
		r.agent(n, &d)
		list = append(list, d)
	}
	if top := r.real(doc.Content[0]); top.Kind == yaml.SequenceNode {
		for _, n := range top.Content {
			read(n)
			if d := &list[len(list)-1]; r.err == nil && d.Off == "" {
				r.fail(n, "a list holds agents on other servers, and this one has no agent_card_url")
			}
		}
	} else {
		read(top)
	}
	return list, r.err
}

// A reader keeps the first thing that is wrong with a file.
type reader struct {
	file string
	err  error
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) error {
	line := 1
	if n != nil {
		line += n.Line
	}
	if r.err == nil {
		r.err = &FileError{r.file, line, fmt.Sprintf(format, args...)}
	}
	return r.err
}

var yamlLine = text.Pattern(`^yaml: (?:line (\d+): )?`)

// syntax says what is wrong with the YAML at n, as its library does.
func (r *reader) syntax(n *yaml.Node, err error) error {
	said := err.Error()
	m := yamlLine().FindStringSubmatch(said)
	if m != nil {
		said = said[len(m[0]):]
		if line, err := strconv.Atoi(m[1]); err == nil {
			n = &yaml.Node{Line: line}
		}
	}
	return r.fail(n, "%s", text.OneLine(said, 200))
}

// real returns what an alias stands for.
func (r *reader) real(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// each calls f with the entries of a mapping, of which none may be there twice.
func (r *reader) each(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	if n = r.real(n); n.Kind != yaml.MappingNode {
		r.fail(n, "%s is no mapping of names to values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content) && r.err == nil; i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.fail(key, "%s stands there twice", text.OneLine(key.Value, longestTitle))
			return
		}
		seen[key.Value] = true
		f(key, r.real(n.Content[i+1]))
	}
}

// unknown says that a key is none of those there are.
func (r *reader) unknown(key *yaml.Node, keys []string) {
	message := "unknown key " + strconv.Quote(text.OneLine(key.Value, longestTitle))
	if near := text.Nearest(key.Value, keys); near != "" {
		message += "; did you mean " + near + "?"
	} else {
		message += "; there are " + text.List(keys)
	}
	r.fail(key, "%s", message)
}

var (
	localKeys  = []string{"kind", "name", "description", "display_name", "tools", "mcp_servers", "model", "temperature", "max_turns", "timeout_mins"}
	remoteKeys = []string{"kind", "name", "description", "display_name", "agent_card_url", "agent_card_json", "auth"}
	serverKeys = []string{"command", "args", "env", "cwd", "url", "http_url", "headers", "tcp", "type", "timeout", "trust", "description",
		"include_tools", "exclude_tools", "auth"}
)

// agent reads one agent.
func (r *reader) agent(n *yaml.Node, d *Definition) {
	keys := localKeys
	r.each(n, "what stands between the lines ---", func(key, value *yaml.Node) {
		if key.Value == "kind" && value.Value == "remote" || strings.HasPrefix(key.Value, "agent_card_") {
			keys, d.Off = remoteKeys, later
		}
	})
	r.each(n, "what stands between the lines ---", func(key, value *yaml.Node) {
		if !slices.Contains(keys, key.Value) {
			r.unknown(key, keys)
			return
		}
		r.fact(key.Value, value, d)
	})
	for _, want := range []struct{ key, value string }{{"name", d.Name}, {"description", d.Description}} {
		if want.value == "" && (d.Off == "" || want.key == "name") {
			r.fail(r.real(n), "%s is missing", want.key)
		}
	}
}

var slug = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// fact reads the value of a key.
func (r *reader) fact(key string, n *yaml.Node, d *Definition) {
	switch key {
	case "kind":
		if kind := r.text(key, n); kind != "local" && kind != "remote" {
			r.fail(n, "kind is local or remote")
		}
	case "name":
		if d.Name = r.text(key, n); !slug.MatchString(d.Name) {
			r.fail(n, "name is made of small letters, digits, - and _, at most 64")
		}
	case "description":
		d.Description = r.text(key, n)
	case "display_name":
		d.Label = r.text(key, n)
	case "model":
		if d.Model = r.text(key, n); d.Model == "inherit" {
			d.Model = ""
		}
	case "tools":
		d.Tools = r.patterns(n)
	case "mcp_servers":
		d.Servers = map[string]any{}
		r.each(n, key, func(name, value *yaml.Node) { d.Servers[name.Value] = r.server(value) })
	case "temperature":
		t := r.number(key, n, 0, 2)
		d.Config = &genai.GenerateContentConfig{Temperature: genai.Ptr(float32(t))}
	case "max_turns":
		d.Most = r.whole(key, n, 100_000)
	case "timeout_mins":
		d.Time = time.Duration(r.whole(key, n, 100_000)) * time.Minute
	}
}

// text reads a text.
func (r *reader) text(key string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || strings.TrimSpace(n.Value) == "" {
		r.fail(n, "%s is no text, or an empty one; quotes make one of a number", key)
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// number reads a number.
func (r *reader) number(key string, n *yaml.Node, least, most float64) (v float64) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || !(v >= least && v <= most) {
		r.fail(n, "%s is no number from %g to %g", key, least, most)
	}
	return v
}

// whole reads a whole number above 0.
func (r *reader) whole(key string, n *yaml.Node, most int) int {
	v := r.number(key, n, 1, float64(most))
	if v != float64(int(v)) {
		r.fail(n, "%s is no whole number", key)
	}
	return int(v)
}

var toolPattern = regexp.MustCompile(`^(\*|[A-Za-z0-9_.:-]+\*?)$`)

// patterns reads the names of tools.
func (r *reader) patterns(n *yaml.Node) []string {
	list := []string{} // which is not none said
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "tools is no list of names")
		return list
	}
	for _, item := range n.Content {
		name := r.text("the name of a tool", r.real(item))
		if r.err == nil && !toolPattern.MatchString(name) {
			r.fail(item, "%s is no name of a tool; a * stands for any ending", strconv.Quote(text.OneLine(name, longestTitle)))
		}
		list = append(list, name)
	}
	return list
}

// server reads an MCP server, as settings have it.
func (r *reader) server(n *yaml.Node) map[string]any {
	out := map[string]any{}
	r.each(n, "a server", func(key, value *yaml.Node) {
		var v any
		if !slices.Contains(serverKeys, key.Value) {
			r.unknown(key, serverKeys)
			return
		}
		if err := value.Decode(&v); err != nil {
			r.syntax(value, err)
			return
		}
		if key.Value != "auth" {
			out[camel(key.Value)] = v
			return
		}
		auth, _ := v.(map[string]any)
		switch auth["type"] {
		case "google-credentials":
			out["authProviderType"] = "google_credentials"
			auth = map[string]any{"enabled": false, "scopes": auth["scopes"]}
		case "oauth":
			auth["enabled"] = true
		default:
			r.fail(value, "the type of auth is google-credentials or oauth")
			return
		}
		oauth := map[string]any{}
		for name, v := range auth {
			oauth[camel(name)] = v
		}
		delete(oauth, "type")
		out["oauth"] = oauth
	})
	return out
}

// camel returns a name with underscores as settings have it: http_url is httpUrl.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
