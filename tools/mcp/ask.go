package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/schema"
	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// answer responds to a request of the server.
func (l *serverConn) answer(ctx context.Context, m *rpc.Message) (any, error) {
	params := m.Params
	switch m.Method {
	case protocol.MethodPing:
		return protocol.EmptyResult{}, nil
	case protocol.MethodListRoots:
		return l.set.rootList(), nil
	case protocol.MethodElicitationCreate:
		var e elicitation
		if err := rpc.Decode(params, &e); err != nil {
			return nil, rpc.Errorf(protocol.INVALID_PARAMS, "%s", err)
		}
		return l.calls.askUser(ctx, func(ctx context.Context, r *running) (any, error) { return e.put(ctx, l.Name, r) })
	case protocol.MethodSamplingCreateMessage:
		s, err := readSampling(l.Name, params)
		if err != nil {
			return nil, rpc.Errorf(protocol.INVALID_PARAMS, "%s", err)
		}
		return l.calls.askUser(ctx, s.put)
	}
	return nil, rpc.Errorf(protocol.METHOD_NOT_FOUND, "method not found")
}

// askUser lets the latest running call ask the user.
func (c *calls) askUser(ctx context.Context, ask func(context.Context, *running) (any, error)) (any, error) {
	r := c.last(func(*running) bool { return true })
	if r != nil && r.asked.Add(1) > mostAsked {
		return nil, rpc.Errorf(rpc.Busy, "the user was asked enough in this call")
	}
	if r == nil {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "no call of this server's tools runs, so nobody is asked")
	}
	var result any
	var err error
	done := make(chan struct{})
	asking := func(ctx context.Context) {
		defer close(done)
		result, err = ask(ctx, r)
	}
	select {
	case r.wanted <- asking:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-done:
		return result, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rootList returns the working directories.
func (s *Set) rootList() protocol.ListRootsResult {
	var dirs []string
	if s.Roots != nil {
		dirs = s.Roots()
	}
	return protocol.ListRootsResult{Roots: lists.Map(dirs, func(dir string) protocol.Root {
		return protocol.Root{URI: fileURL(dir), Name: filepath.Base(dir)}
	})}
}

// fileURL returns the file URL of a path.
func fileURL(path string) string {
	if path = filepath.ToSlash(path); os.PathSeparator == '\\' {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// An elicitation is a server's question to the user.
type elicitation struct {
	Message, Mode   string
	RequestedSchema json.RawMessage
}

// A field is a field of an elicitation's form.
type field struct {
	name      string
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Text      string       `json:"description"`
	Enum      []string     `json:"enum"`
	EnumNames []string     `json:"enumNames"`
	OneOf     []enumOption `json:"oneOf"`
	Format    string       `json:"format"`
	Items     struct {
		Enum  []string     `json:"enum"`
		AnyOf []enumOption `json:"anyOf"`
	} `json:"items"`
	Default any `json:"default"`
	needed  bool
	all     map[string]any // all of its schema
}

type enumOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

const (
	mostFields  = 30
	mostTries   = 3
	mostAsked   = 10   // times in a call
	longestForm = 2000 // characters of a text in a form
)

// put asks the user, in the name of the server.
func (e elicitation) put(ctx context.Context, server string, r *running) (any, error) {
	fields, err := e.fields()
	if e.Mode != "" && e.Mode != protocol.ElicitationModeForm {
		err = fmt.Errorf("the mode %q is not supported", cleanLine(e.Mode, 20))
	}
	if err != nil {
		e.unanswered(server, r, err.Error())
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "%s", err)
	}
	form := form{fields: fields, replies: make([]string, len(fields))}
	form.shape, _ = schema.Parse(e.RequestedSchema)
	for i := range fields {
		form.open = append(form.open, i)
	}
	for range mostTries {
		in := engine.Intent{Title: "the MCP server " + text.PrintableLine(server) + " asks"}
		for n, i := range form.open {
			q := fields[i].question("MCP " + clean(server, 20))
			if n == 0 {
				q.Text = "The MCP server " + server + " says: " + clean(e.Message, longestForm) + "\n" + q.Text
			}
			if problem := form.problems[i]; problem != "" {
				q.Text += "\n(the last answer does not fit: " + clean(problem, longestForm) + ")"
			}
			in.Questions = append(in.Questions, q)
		}
		if len(fields) == 0 {
			in.Questions = []engine.Question{{Header: "MCP " + clean(server, 20), Kind: engine.YesNo,
				Text: "The MCP server " + server + " says: " + clean(e.Message, longestForm) + "\nAgree?"}}
		}
		tool := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "elicitation"},
			Server: server, Kind: engine.AskUser}
		said, err := r.host.Approve(ctx, engine.Proposal{Tool: tool, Intent: in})
		if err != nil {
			return nil, err
		}
		if nobody, ok := said.(engine.Unasked); ok {
			e.unanswered(server, r, "denied: nobody to ask; "+nobody.Advice)
		}
		replied, ok := said.(engine.Replied)
		switch {
		case !ok:
			return reply(protocol.ElicitationResponseActionCancel, nil), nil
		case len(fields) == 0:
			if len(replied.Replies) > 0 && replied.Replies[0] == engine.Yes {
				return reply(protocol.ElicitationResponseActionAccept, map[string]any{}), nil
			}
			return reply(protocol.ElicitationResponseActionDecline, nil), nil
		}
		content, some := form.fill(replied.Replies)
		switch {
		case !some && (len(content) == 0 || len(form.open) > 0): // else the defaults that were shown hold
			return reply(protocol.ElicitationResponseActionDecline, nil), nil
		case len(form.open) == 0:
			return reply(protocol.ElicitationResponseActionAccept, content), nil
		}
	}
	e.unanswered(server, r, fmt.Sprintf("%d answers did not fit", mostTries))
	return reply(protocol.ElicitationResponseActionCancel, nil), nil
}

// unanswered tells the user why the server gets no answer.
func (e elicitation) unanswered(server string, r *running, why string) {
	r.host.Emit(engine.Notice{Text: "the MCP server " + text.PrintableLine(server) + " wanted to ask: " +
		cleanLine(e.Message, longestError) + ": " + cleanLine(why, longestError)})
}

// A form holds the user's replies to the fields of an elicitation.
type form struct {
	fields   []field
	shape    *schema.Schema // nil if unknown
	replies  []string
	open     []int          // fields to ask for: first all, then the fields with invalid replies
	problems map[int]string // of the open fields
}

// fill stores replies to the open fields. It returns the content for the server, and whether
// there was any reply. Fields with invalid replies are open again.
func (f *form) fill(said []string) (content map[string]any, some bool) {
	for n, i := range f.open {
		if f.replies[i] = ""; n < len(said) {
			f.replies[i] = strings.TrimSpace(said[n])
		}
	}
	f.open, f.problems, content = nil, map[int]string{}, map[string]any{}
	for i, one := range f.fields {
		if some = some || f.replies[i] != ""; f.replies[i] == "" {
			if one.Default != nil {
				content[one.name] = one.Default
			} else if one.needed {
				f.problems[i] = "it is needed"
			}
			continue
		}
		v, err := one.read(f.replies[i])
		if err != nil {
			f.problems[i] = err.Error()
			continue
		}
		content[one.name] = v
	}
	if f.shape != nil {
		b, _ := json.Marshal(content)
		_, wrong := f.shape.Check(string(b))
		for _, p := range wrong {
			f.blame(p)
		}
	}
	f.open = slices.Sorted(maps.Keys(f.problems))
	return content, some
}

// blame stores a problem under its field, or under the first field if it names no field.
func (f *form) blame(p *schema.Problem) {
	name, _, _ := strings.Cut(strings.TrimPrefix(p.At, "/"), "/")
	i := slices.IndexFunc(f.fields, func(one field) bool { return one.name == name })
	if i < 0 && len(f.problems) > 0 {
		return // a field may be missing
	}
	if i = max(i, 0); f.problems[i] == "" {
		f.problems[i] = p.Message
	}
}

// reply returns the response for the server.
func reply(action protocol.ElicitationResponseAction, content any) protocol.ElicitationResponse {
	return protocol.ElicitationResponse{Action: action, Content: content}
}

// errForm is the error of a form that is none of the protocol's.
var errForm = errors.New("the form is not understood")

// fields returns the fields, in the server's order.
func (e elicitation) fields() (list []field, err error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if len(e.RequestedSchema) > 0 && json.Unmarshal(e.RequestedSchema, &s) != nil {
		return nil, errForm
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties)) // a map would lose the order
	for d.Token(); d.More(); {
		var raw json.RawMessage
		t, _ := d.Token()
		name, ok := t.(string)
		f := field{name: name, needed: slices.Contains(s.Required, name)}
		if !ok || d.Decode(&raw) != nil || text.Unmarshal(raw, &f) != nil || json.Unmarshal(raw, &f.all) != nil {
			return nil, errForm
		}
		list = append(list, f)
	}
	if len(list) > mostFields {
		return nil, fmt.Errorf("more than %d fields", mostFields)
	}
	return list, nil
}

// options returns the values to choose from, with their labels.
func (f field) options() (list []enumOption) {
	list = slices.Concat(f.OneOf, f.Items.AnyOf)
	for i, v := range slices.Concat(f.Enum, f.Items.Enum) {
		c := enumOption{Const: v}
		if i < len(f.EnumNames) {
			c.Title = f.EnumNames[i]
		}
		list = append(list, c)
	}
	return list
}

// question returns the question for f.
func (f field) question(header string) engine.Question {
	words := cmp.Or(f.Title, f.name)
	if f.Text != "" {
		words += ": " + f.Text
	}
	notes := f.requirements()
	switch {
	case f.Default != nil:
		notes = append(notes, clean(f.defaultReply(), 100)+" if left empty")
	case !f.needed:
		notes = append(notes, "may be left empty")
	}
	if len(notes) > 0 {
		words += " (" + strings.Join(notes, ", ") + ")"
	}
	q := engine.Question{Header: header, Text: clean(words, longestForm), Kind: engine.FreeText}
	switch options := f.options(); {
	case f.Type == "boolean":
		q.Kind = engine.YesNo
	case len(options) > 0:
		q.Kind, q.Multi, q.Closed = engine.MultipleChoice, f.Type == "array", true
		q.Options = lists.Map(options, func(o enumOption) engine.Option { return engine.Option{Label: o.label()} })
	}
	return q
}

// requirements says what a reply must be.
func (f field) requirements() (notes []string) {
	if kind := map[string]string{"integer": "a whole number", "number": "a number"}[f.Type]; kind != "" {
		notes = append(notes, kind)
	}
	for _, b := range [][3]string{{"minimum", "at least "}, {"maximum", "at most "}, {"minLength", "at least ", "character"},
		{"maxLength", "at most ", "character"}, {"minItems", "at least ", "choice"}, {"maxItems", "at most ", "choice"}} {
		n, ok := f.all[b[0]].(float64)
		switch {
		case ok && b[2] != "":
			notes = append(notes, b[1]+text.Count(int(n), b[2]))
		case ok:
			notes = append(notes, b[1]+strconv.FormatFloat(n, 'f', -1, 64))
		}
	}
	if f.Format != "" {
		notes = append(notes, schema.FormatWords(f.Format))
	}
	return notes
}

// defaultReply returns the default as a user would give it.
func (f field) defaultReply() string {
	values, several := f.Default.([]any)
	if !several {
		values = []any{f.Default}
	}
	options := f.options()
	return strings.Join(lists.Map(values, func(v any) string {
		said := fmt.Sprint(v)
		if i := slices.IndexFunc(options, func(o enumOption) bool { return o.Const == said }); i >= 0 {
			return options[i].label()
		}
		switch v {
		case true:
			return engine.Yes
		case false:
			return engine.No
		}
		return said
	}), ", ")
}

// chosen returns the values of the labels in a reply.
func (f field) chosen(said string) (values []string, err error) {
	options := f.options()
	for rest := said + ", "; rest != ""; {
		i := slices.IndexFunc(options, func(o enumOption) bool { return strings.HasPrefix(rest, o.label()+", ") })
		if i < 0 {
			return nil, fmt.Errorf("%s is none of the choices", strings.TrimSuffix(rest, ", "))
		}
		values = append(values, options[i].Const)
		rest = rest[len(options[i].label()+", "):]
	}
	return values, nil
}

// label returns the displayed text for the value.
func (c enumOption) label() string { return clean(cmp.Or(c.Title, c.Const), 200) }

// read returns the user's reply in the server's form.
func (f field) read(said string) (any, error) {
	switch f.Type {
	case "boolean":
		return said == engine.Yes, nil
	case "integer", "number":
		n, err := strconv.ParseFloat(said, 64)
		if err != nil || n-n != 0 { // infinite, or NaN
			return nil, fmt.Errorf("%s is no number", f.name)
		}
		if json.Valid([]byte(said)) {
			return text.JSONNumber(json.Number(said)), nil
		}
		return n, nil
	}
	values, err := []string{said}, error(nil)
	if len(f.options()) > 0 {
		values, err = f.chosen(said)
	} else if f.Type == "array" {
		values = strings.Split(said, ", ")
	}
	if f.Type == "array" {
		return values, err
	}
	return strings.Join(values, ", "), err
}
