package agent

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"google.golang.org/genai"

	"gemline/engine/model/catalog"
	"gemline/engine/text"
	"gemline/tools/agent/remote"
)

// A FileError is a fault that makes a file unusable as an agent.
type FileError struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// Error names the place.
func (e *FileError) Error() string {
	return fmt.Sprintf("%s:%d: %s", text.PrintableLine(e.File), e.Line, e.Message)
}

// Parse reads the agents of a file: one agent, or several remote agents. An invalid value is
// an error, a [*FileError]. Keys without effect are in the Notes.
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
	err := yaml.Unmarshal([]byte(head), &doc)
	if err != nil {
		var mended yaml.Node // values with a colon are quoted
		if yaml.Unmarshal([]byte(text.QuoteFrontMatter(head)), &mended) == nil {
			doc, err = mended, nil
		}
	}
	if err != nil {
		return nil, r.syntax(&yaml.Node{Line: 1}, err)
	}
	if len(doc.Content) == 0 {
		return nil, r.fail(nil, "nothing stands between the lines ---")
	}
	print := fmt.Sprintf("%x", sha256.Sum256([]byte(source)))
	var list []Definition
	read := func(n *yaml.Node) {
		d := Definition{File: file, Fingerprint: print, Prompt: Prompt{Text: strings.TrimSpace(body)}}
		r.agent(n, &d)
		list = append(list, d)
	}
	if top := r.real(doc.Content[0]); top.Kind == yaml.SequenceNode {
		for _, n := range top.Content {
			read(n)
			if d := &list[len(list)-1]; r.err == nil && d.Remote == nil {
				r.fail(n, "a list holds agents on other servers, and this one has no agent_card_url")
			}
		}
	} else {
		read(top)
	}
	return list, r.err
}

// A reader reads a file and stores its first fault.
type reader struct {
	file string
	err  error
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) error {
	if r.err == nil {
		r.err = r.problem(n, format, args...)
	}
	return r.err
}

// problem returns an error about the file at n.
func (r *reader) problem(n *yaml.Node, format string, args ...any) *FileError {
	line := 1
	if n != nil {
		line += n.Line
	}
	return &FileError{r.file, line, fmt.Sprintf(format, args...)}
}

var yamlLine = text.Pattern(`^yaml: (?:line (\d+): )?`)

// syntax returns an error about the YAML at n, in the words of its library.
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

// each calls f with the entries of a mapping, and fails on a duplicate key.
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

// unknown reports a key that is not in keys.
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
	localKeys = []string{"kind", "name", "description", "display_name", "tools", "mcp_servers",
		"model", "temperature", "max_turns", "timeout_mins", exceptKey}
	remoteKeys = []string{"kind", "name", "description", "display_name", "agent_card_url", "agent_card_json", "auth"}
	serverKeys = []string{"command", "args", "env", "cwd", "url", "http_url", "headers", "tcp",
		"type", "timeout", "trust", "description",
		"include_tools", "exclude_tools", "auth"}
	authKeys = []string{"type", "key", "name", "scheme", "token", "username", "password", "value",
		"scopes", "agent_card_requires_auth"}
	oauthKeys = []string{"client_id", "client_secret", "authorization_url", "token_url", "issuer", "audiences",
		"redirect_uri", "token_param_name", "registration_url"}
)

// agent reads one agent.
func (r *reader) agent(n *yaml.Node, d *Definition) {
	keys := localKeys
	r.each(n, "what stands between the lines ---", func(key, value *yaml.Node) {
		if key.Value == "kind" && value.Value == "remote" || strings.HasPrefix(key.Value, "agent_card_") {
			keys, d.Remote = remoteKeys, &remote.Server{}
		}
	})
	var odd [][2]*yaml.Node // keys with their values
	r.each(n, "what stands between the lines ---", func(key, value *yaml.Node) {
		name := knownKey(key.Value, keys)
		if !slices.Contains(keys, name) {
			odd = append(odd, [2]*yaml.Node{key, value})
			return
		}
		r.fact(name, value, d)
	})
	r.unknownKeys(odd, d, keys)
	for _, want := range []struct{ key, value string }{{"name", d.Name}, {"description", d.Description}} {
		if want.value == "" && (d.Remote == nil || want.key == "name") {
			r.fail(r.real(n), "%s is missing", want.key)
		}
	}
	if s := d.Remote; s != nil && r.err == nil && (s.CardURL == "") == (s.Card == "") {
		r.fail(r.real(n), "one of agent_card_url and agent_card_json has to be there")
	}
	if s := d.Remote; s != nil {
		d.Prompt.Text = ""
		if r.err == nil {
			if err := s.Check(); err != nil {
				r.fail(r.real(n), "%v", err)
			}
		}
		d.Description = cmp.Or(d.Description, s.Description())
	}
}

// slugOf turns a label, such as Code Reviewer, into an agent's name.
func slugOf(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(name)), "-")
}

var slug = text.Pattern(`^[a-z0-9_-]{1,64}$`)

// fact reads the value of a key.
func (r *reader) fact(key string, n *yaml.Node, d *Definition) {
	switch key {
	case "kind":
		if kind := r.text(key, n); kind != "local" && kind != "remote" {
			r.fail(n, "kind is local or remote")
		}
	case "name":
		said := r.text(key, n)
		if d.Name = slugOf(said); d.Name != said {
			r.note(n, d, "it is called %s: a name is made of small letters, digits, - and _", d.Name)
		}
		if !slug().MatchString(d.Name) {
			r.fail(n, "name is made of small letters, digits, - and _, at most 64")
		}
	case "description":
		d.Description = r.text(key, n)
	case "display_name":
		d.Label = r.text(key, n)
	case "model":
		if wrong := textless(n); wrong != "" {
			r.misread(n, d, "the model %s; the model of the conversation answers", wrong)
			return
		}
		if d.Model.Name = r.text(key, n); d.Model.Name == "inherit" || d.Model.Name == "default" {
			d.Model.Name = ""
		}
		if provider, _ := catalog.Provider(d.Model.Name); provider == "" && OtherVendor(d.Model.Name) {
			r.note(n, d, "the model %s is another vendor's; the model of the conversation answers", d.Model.Name)
		}
	case "tools":
		d.Access.Tools = r.names(key, n, d)
	case exceptKey:
		d.Access.Except = r.names(key, n, d)
	case "mcp_servers":
		d.Access.Servers = map[string]any{}
		r.each(n, key, func(name, value *yaml.Node) { d.Access.Servers[name.Value] = r.server(value) })
	case "temperature":
		t := r.number(key, n, 0, 2)
		d.Model.Config = &genai.GenerateContentConfig{Temperature: genai.Ptr(float32(t))}
	case "max_turns":
		d.Limits.Requests = r.whole(key, n, 100_000)
	case "agent_card_url":
		d.Remote.CardURL = r.text(key, n)
	case "agent_card_json":
		d.Remote.Card = r.text(key, n)
	case "auth":
		if d.Remote.Auth = r.auth(n); d.Remote.Auth.Type == "oauth" {
			d.DisabledReason = "auth of the type oauth, a log-in in a browser, is not in use yet; a token for http: Bearer can come from a !command"
			r.misread(n, d, "the agent can't be called: %s", d.DisabledReason)
		}
	case "timeout_mins":
		d.Limits.Time = time.Duration(r.whole(key, n, 100_000)) * time.Minute
	}
}

// text reads a text.
func (r *reader) text(key string, n *yaml.Node) string {
	if wrong := textless(n); wrong != "" {
		r.fail(n, "%s %s", key, wrong)
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// textless returns why a value is no string, "" if it is a string.
func textless(n *yaml.Node) string {
	switch {
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		return "begins with !, and so has to stand in quotes"
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str" || strings.TrimSpace(n.Value) == "":
		return "is no text, or an empty one; quotes make one of a number"
	}
	return ""
}

// number reads a number.
func (r *reader) number(key string, n *yaml.Node, least, most float64) (v float64) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil ||
		!(v >= least && v <= most) {
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

var toolPattern = text.Pattern(`^(\*|[A-Za-z0-9_.:-]+\*?)$`)

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
			auth["enabled"] = false
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

// auth reads the credentials for a server.
func (r *reader) auth(n *yaml.Node) (a remote.Auth) {
	values := map[string]string{"name": "", "scheme": ""}
	r.each(n, "auth", func(key, value *yaml.Node) {
		switch {
		case slices.Contains(oauthKeys, key.Value): // OAuth is not supported yet
		case !slices.Contains(authKeys, key.Value):
			r.unknown(key, authKeys)
		case key.Value == "scopes":
			if value.Decode(&a.Scopes) != nil {
				r.fail(value, "scopes is no list of texts")
			}
		case key.Value != "agent_card_requires_auth": // gemline finds out by itself
			values[key.Value] = r.text(key.Value, value)
		}
	})
	a = remote.Auth{Type: values["type"], Key: values["key"], Name: values["name"],
		Scheme: values["scheme"], Token: values["token"],
		User: values["username"], Password: values["password"], Content: values["value"], Scopes: a.Scopes}
	want := map[string][]string{"apiKey": {"key"}, "http": {"scheme"}, "google-credentials": nil}
	needed, known := want[a.Type]
	switch scheme := strings.ToLower(a.Scheme); {
	case a.Type == "oauth": // the agent can't be called
	case !known:
		r.fail(n, "the type of auth is apiKey, http or google-credentials")
	case a.Type != "http" || a.Content != "":
	case scheme == "basic":
		needed = append(needed, "username", "password")
	case scheme == "bearer":
		needed = append(needed, "token")
	case scheme != "":
		needed = append(needed, "value")
	}
	for _, key := range needed {
		if values[key] == "" {
			r.fail(n, "auth has no %s", key)
		}
	}
	return a
}

// camel turns a name with underscores into the name of a setting: http_url becomes httpUrl.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
