package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

// A Resource is a resource of a server.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"-"`
	MIMEType    string `json:"mime_type,omitempty"`
}

// A rawResource is a resource or a template of resources, in a server's form.
type rawResource struct{ URI, URITemplate, Name, Title, Description, MIMEType string }

// shown returns resources sanitised for display. It omits resources with an invalid address.
func shown(found []rawResource) []Resource {
	kept := []Resource{}
	for _, r := range found {
		uri := cmp.Or(r.URI, r.URITemplate)
		if uri == "" || len(uri) > mostAddress || clean(uri, mostAddress) != uri {
			continue
		}
		kept = append(kept, Resource{uri, cleanLine(cmp.Or(r.Title, r.Name), longestError),
			cleanLine(r.Description, longestError), mediaType(r.MIMEType)})
	}
	return kept
}

// connected returns a server that is connected.
func (s *Set) connected(name string) (*serverConn, *peer, error) {
	l := s.find(name)
	if l == nil {
		return nil, nil, fmt.Errorf("there is no MCP server %s", text.PrintableLine(name))
	}
	if c := l.conn.Load(); c != nil {
		return l, c, nil
	}
	st := l.status()
	if st.Err != nil {
		return nil, nil, fmt.Errorf("the MCP server %s is not connected: %w", text.PrintableLine(name), st.Err)
	}
	return nil, nil, fmt.Errorf("the MCP server %s is not connected: %s", text.PrintableLine(name), st.State)
}

// CompleteResource returns the names of resources, as SERVER:URI, that begin with a text.
// open marks names from a template, which need completion.
func (s *Set) CompleteResource(ctx context.Context, begins string) (names []string, open map[string]bool) {
	open = map[string]bool{}
	for _, st := range s.Status() {
		rest, ok := strings.CutPrefix(begins, st.Name+":")
		if !ok && !strings.HasPrefix(st.Name+":", begins) {
			continue
		}
		add := func(uri string, more bool) {
			name := st.Name + ":" + uri
			if strings.HasPrefix(name, begins) && len(names) < mostCompleted && !slices.Contains(names, name) {
				names = append(names, name)
				open[name] = more
			}
		}
		for _, r := range st.Resources {
			add(r.URI, false)
		}
		for _, t := range st.Templates {
			before, behind, _ := strings.Cut(t.URI, "{")
			variable, tail, _ := strings.Cut(behind, "}")
			if add(before, true); !ok || !strings.HasPrefix(rest, before) {
				continue
			}
			tail, _, more := strings.Cut(tail, "{")
			ref := protocol.ResourceReference{Type: "ref/resource", URI: t.URI}
			for _, v := range s.complete(ctx, st.Name, ref, variable, rest[len(before):], nil) {
				add(before+v+tail, more)
			}
		}
	}
	return names, open
}

const mostCompleted = 200

// SplitResource returns the server and the address in a name SERVER:URI. The server must
// exist; its resource need not be listed.
func (s *Set) SplitResource(name string) (server, uri string, ok bool) {
	for _, l := range s.all() {
		if rest, found := strings.CutPrefix(name, l.Name+":"); found && strings.Contains(rest, ":") {
			return l.Name, rest, true
		}
	}
	return "", "", false
}

// listing returns the server that lists a resource, if only one does.
func listing(servers []Status, uri string) (server string, ok bool) {
	for _, st := range servers {
		if !slices.ContainsFunc(st.Resources, func(r Resource) bool { return r.URI == uri }) {
			continue
		}
		if ok {
			return "", false
		}
		server, ok = st.Name, true
	}
	return server, ok
}

// Read returns the content of a resource, in parts. Binary data is replaced by a
// description; omitted has its media types.
func (s *Set) Read(ctx context.Context, server, uri string) (parts, omitted []string, err error) {
	l, c, err := s.connected(server)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := within(ctx, l.Timeout)
	defer cancel()
	var got struct {
		Contents []resourceContents `json:"contents"`
	}
	if c, err = l.ask(ctx, c, protocol.MethodResourcesRead, protocol.ReadResourceParams{URI: uri}, &got); err != nil {
		return nil, nil, l.failed(ctx, c, err)
	}
	l.watch(c, uri)
	for _, c := range got.Contents {
		if c.Text != nil {
			parts = append(parts, *c.Text)
			continue
		}
		omitted = append(omitted, mediaType(c.MIMEType))
		parts = append(parts, fmt.Sprintf("[Binary resource content %s, %d bytes]", mediaType(c.MIMEType), len(c.Blob)/4*3))
	}
	return parts, omitted, nil
}

// listResources returns the tool that lists resources.
func (s *Set) listResources() engine.Tool {
	return toolkit.Define("list_mcp_resources", "List MCP Resources", engine.Read,
		"Lists the resources that MCP servers have: server:uri, name and description. read_mcp_resource reads one.",
		`{"type":"object","properties":{"serverName":{"type":"string","description":"Only those of this server"}}}`,
		func(_ context.Context, a struct{ ServerName string }) (engine.Call, error) {
			run := func(context.Context, engine.Host) (engine.Result, error) { return s.listed(a.ServerName), nil }
			return engine.Call{Intent: engine.Intent{Title: "list the resources of MCP servers"}, Run: run}, nil
		})
}

// listed returns the resources of a server for the model; "" stands for all servers.
func (s *Set) listed(server string) engine.Result {
	lines, templates := []string{}, []string{}
	for _, st := range s.Status() {
		if server != "" && server != st.Name {
			continue
		}
		for _, r := range st.Resources {
			lines = append(lines, fmt.Sprintf("- %s:%s | %s | %s", st.Name, r.URI, r.Name, r.Description))
		}
		for _, t := range st.Templates {
			templates = append(templates, fmt.Sprintf("- %s:%s, with what stands in braces filled in | %s | %s",
				st.Name, t.URI, t.Name, t.Description))
		}
	}
	if lines = append(lines, templates...); len(lines) == 0 {
		return engine.Result{Text: "No MCP resources found.", Display: "Listed 0 resources."}
	}
	return engine.Result{Text: "Available MCP Resources:\n" + text.Untrusted(strings.Join(lines, "\n")),
		Display: fmt.Sprintf("Listed %d resources.", len(lines))}
}

// readResource returns the tool that reads a resource.
func (s *Set) readResource(in Callbacks) engine.Tool {
	const name = "read_mcp_resource"
	return toolkit.Define(name, "Read MCP Resource", engine.Read, "Reads a resource of an MCP server.",
		`{"type":"object","properties":{"uri":{"type":"string","description":"server:uri, as list_mcp_resources has it"}},"required":["uri"]}`,
		func(_ context.Context, a struct{ URI string }) (engine.Call, error) {
			server, uri, ok := s.SplitResource(a.URI)
			if !ok { // models often omit the server
				uri = a.URI
				server, ok = listing(s.Status(), uri)
			}
			if !ok {
				return engine.Call{}, toolkit.Misuse("params/uri must be server:uri, with a server that there is")
			}
			intent := engine.Intent{Title: "read " + text.PrintableLine(text.OneLine(a.URI, longestError))}
			return engine.Call{Intent: intent, Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
				parts, omitted, err := s.Read(ctx, server, uri)
				if err != nil {
					if ce := (*engine.CallError)(nil); errors.As(err, &ce) || ctx.Err() != nil {
						return engine.Result{}, err
					}
					return engine.Result{}, &engine.CallError{Type: serverError, Message: err.Error()}
				}
				given, cut := in.cut(name)(strings.Join(parts, "\n") + "\n")
				shown := fmt.Sprintf("%d characters", len(given))
				if len(omitted) > 0 {
					shown += "; not sent: " + strings.Join(omitted, ", ")
				}
				return engine.Result{Text: text.Untrusted(given), Cut: cut, Display: shown}, nil
			}}, nil
		})
}
