package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/schema"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

// A rawTool is a tool in the server's form. The library's type rewrites the schema, and
// knows only some annotations.
type rawTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations map[string]any  `json:"annotations"`

	whole []byte // the whole JSON, with sorted keys
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *rawTool) UnmarshalJSON(b []byte) error {
	type plain rawTool // without this method
	var whole any
	if err := cmp.Or(json.Unmarshal(b, (*plain)(t)), json.Unmarshal(b, &whole)); err != nil {
		return err
	}
	t.whole, _ = json.Marshal(whole)
	return nil
}

// A tool is a server's tool, ready to be declared.
type tool struct {
	ToolInfo
	shape  func() *schema.Schema // the arguments' schema; nil if any arguments fit
	print  string                // the hash of whole
	before string                // the pinned description, if the tool has changed
}

// Callbacks give servers access to the conversation that calls their tools.
type Callbacks struct {
	Policy engine.Policy // judges samplings

	// Answer asks the model, after the approval. Nil refuses.
	Answer func(ctx context.Context, host engine.Host, s Sampling) (Answer, error)

	// Cut shortens a result that is too long for the conversation. It may be nil.
	Cut func(tool, all string) (string, engine.Cut)

	// Trusting reports whether calls run without approval, even of changed tools. It may be
	// nil.
	Trusting func() bool
}

// takeTools takes over the tools of a server.
func (c *catalog) takeTools(found []rawTool) {
	names, kept := map[string]bool{}, []tool{}
	c.warnUnknown(found)
	found = slices.DeleteFunc(found, func(t rawTool) bool { return t.Name == "" || !c.server.includesTool(t.Name) })
	for _, t := range taken(found, func(t rawTool) string { return t.Name }) {
		info := ToolInfo{Name: t.Name, DeclaredName: uniqueName(declaredName(c.server.Name, t.Name), names),
			Schema: DeclaredSchema(t.InputSchema), Annotations: t.Annotations,
			Description: clean(cmp.Or(t.Description, t.Title), mostDescription)}
		names[info.DeclaredName] = true
		shape := sync.OnceValue(func() *schema.Schema { return shapeOf(t.InputSchema) }) // without a schema, the server checks
		sum := sha256.Sum256(t.whole)
		kept = append(kept, tool{ToolInfo: info, shape: shape, print: hex.EncodeToString(sum[:16])})
	}
	changed := c.owner.Pins.compare(c.server, kept)
	c.set(func() { c.tools = kept })
	if len(changed) > 0 {
		c.owner.notify("MCP server %s says something else of %s than when it was first used; calls are asked about",
			c.server.Name, text.List(changed))
	}
}

// warnUnknown warns once of tool names in the settings that the server does not have.
func (c *catalog) warnUnknown(found []rawTool) {
	tools := lists.Map(found, func(t rawTool) string { return t.Name })
	unknown := unknownTools(c.server, tools)
	if len(unknown) == 0 {
		return
	}
	said := "includeTools and excludeTools name " + text.List(unknown) + ", which the server does not have"
	if near := text.Nearest(unknown[0], tools); near != "" {
		said += "; did you mean " + near + "?"
	}
	c.warn("names", said)
}

// Tools returns the tools of all servers that are connected, for one conversation, in the
// order of the servers' names.
func (s *Set) Tools(c Callbacks) engine.Toolset { return offered{s, c} }

type offered struct {
	set *Set
	in  Callbacks
}

// Tools implements [engine.Toolset].
func (o offered) Tools() (list []engine.Tool) {
	if o.set == nil {
		return nil
	}
	o.set.tellRoots()
	names := map[string]bool{}
	resources := false
	for _, l := range o.set.all() {
		l.catalog.mu.Lock()
		tools, has := l.catalog.tools, l.catalog.resources != nil
		l.catalog.mu.Unlock()
		resources = resources || has
		for _, t := range tools {
			t.DeclaredName = uniqueName(t.DeclaredName, names)
			names[t.DeclaredName] = true
			list = append(list, o.tool(l, t))
		}
	}
	if resources {
		list = append(list, o.set.listResources(), o.set.readResource(o.in))
	}
	return list
}

// tool returns t as a tool of the engine.
func (o offered) tool(l *serverConn, t tool) engine.Tool {
	kind := engine.Other
	if t.Annotations["readOnlyHint"] == true {
		kind = engine.Query
	}
	et := engine.Tool{
		Declaration: &genai.FunctionDeclaration{Name: t.DeclaredName, Description: t.Description,
			ParametersJsonSchema: t.Schema},
		Label: fmt.Sprintf("%s (%s MCP Server)", text.PrintableLine(t.Name), text.PrintableLine(l.Name)), Kind: kind,
		Server: l.Name, ServerTool: t.Name, Annotations: t.Annotations, Origin: origin(l.Server),
	}
	et.Fit = t.fit
	et.Prepare = func(_ context.Context, args map[string]any) (engine.Call, error) {
		fitted, _, err := t.fit(args)
		if err != nil {
			return engine.Call{}, err
		}
		args = map[string]any{}
		maps.Copy(args, fitted)
		delete(args, waits)
		in := t.intent(l.catalog.server, args)
		if t.before != "" && !(o.in.Trusting != nil && o.in.Trusting()) {
			in.Ask = "the server says something else of this tool than when it was first used"
			in.Detail += "\n\nit said:\n" + t.before + "\nit says:\n" + t.Description
		}
		return engine.Call{Intent: in, Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
			l.catalog.agree(t)
			return l.call(ctx, host, o.in, et, t, args)
		}}, nil
	}
	return et
}

// agree records that a call of the current t was allowed.
func (c *catalog) agree(t tool) {
	if t.before == "" {
		return
	}
	c.owner.Pins.agree(c.server, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = slices.Clone(c.tools)
	for i := range c.tools {
		if c.tools[i].print == t.print {
			c.tools[i].before = ""
		}
	}
}

// intent describes a call.
func (t tool) intent(of Server, args map[string]any) engine.Intent {
	b, _ := text.JSON(args, "  ")
	name := text.PrintableLine(t.Name) + " of the MCP server " + text.PrintableLine(of.Name)
	return engine.Intent{Title: "call " + name, Detail: "call " + name + "\n" + strings.TrimSpace(string(b)),
		Grants: []engine.Grant{
			{Label: "always " + text.PrintableLine(t.Name) + " as it is now", Tool: t.DeclaredName, Target: "tool " + t.print + " of " + of.subject()},
			{Label: "always all tools of " + text.PrintableLine(of.Name), Tool: engine.ServerPrefix(of.Name) + "*",
				Target: "server " + of.subject()}}}
}

// waits is an argument for the engine, not for the server: the call runs alone.
const waits = "wait_for_previous"

// fit returns args converted to the tool's schema, and a note about dropped arguments. The
// error lists all problems for the model.
func (t tool) fit(args map[string]any) (fitted map[string]any, note string, err error) {
	shape := t.shape()
	if shape == nil {
		return args, "", nil
	}
	return toolkit.Fit(shape, args, waits)
}
