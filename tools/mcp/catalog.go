package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// listMethods are the methods that list a server's offerings.
var listMethods = []protocol.MCPMethod{protocol.MethodToolsList, protocol.MethodPromptsList, protocol.MethodResourcesList}

// Bounds of a server's lists and texts.
const (
	mostTools        = 256
	mostPrompts      = 256
	mostResources    = 5000
	mostTemplates    = 256
	mostPages        = 100
	mostDescription  = 8000  // characters
	mostInstructions = 16000 // likewise
	mostSchema       = 64 << 10
	mostAddress      = 2000
)

// A catalog is the offerings of a server, as last read. It remains during short
// disconnections.
type catalog struct {
	server  Server
	owner   *Set
	changed chan struct{} // signals that lists must be read again

	mu           sync.Mutex
	warned       map[string]string // problems that the user was warned of, by kind
	can          protocol.ServerCapabilities
	instructions string
	tools        []tool
	prompts      []Prompt
	resources    []Resource
	templates    []Resource                  // with variables in their addresses
	dirty        map[protocol.MCPMethod]bool // lists that must be read again
}

// set changes the catalog.
func (c *catalog) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// warn tells the user of a problem, once for each kind.
func (c *catalog) warn(kind, problem string) {
	told := ""
	c.set(func() { told, c.warned[kind] = c.warned[kind], problem })
	if told == "" {
		c.owner.notify("MCP server %s: %s", c.server.Name, problem)
	}
}

// begin stores the capabilities and instructions of a connected server.
func (c *catalog) begin(can protocol.ServerCapabilities, instructions string) {
	c.set(func() { c.can, c.instructions = can, clean(instructions, mostInstructions) })
}

// clear removes everything that was read from the server.
func (c *catalog) clear() {
	c.set(func() { c.tools, c.prompts, c.resources, c.templates, c.instructions = nil, nil, nil, nil, "" })
}

// show adds the offerings of the server to its status.
func (c *catalog) show(st *Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.Instructions, st.Prompts, st.Resources, st.Templates = c.instructions, c.prompts, c.resources, c.templates
	st.Warnings = slices.Sorted(maps.Values(c.warned))
	for _, t := range c.tools {
		st.Tools = append(st.Tools, t.ToolInfo)
	}
}

// capabilities returns the capabilities of the server.
func (c *catalog) capabilities() protocol.ServerCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.can
}

// read reads a list, if the server supports it.
func (c *catalog) read(ctx context.Context, conn *rpc.Conn, list protocol.MCPMethod) error {
	can := c.capabilities()
	switch {
	case list == protocol.MethodToolsList && can.Tools != nil:
		return take(ctx, c, conn, list, "tools", mostTools, c.takeTools)
	case list == protocol.MethodPromptsList && can.Prompts != nil:
		return take(ctx, c, conn, list, "prompts", mostPrompts, c.takePrompts)
	case list == protocol.MethodResourcesList && can.Resources != nil:
		err := take(ctx, c, conn, list, "resources", mostResources, func(found []rawResource) {
			kept := taken(shown(found), func(r Resource) string { return r.URI })
			c.set(func() { c.resources = kept })
		})
		if err == nil {
			c.readTemplates(conn)
		}
		return err
	}
	return nil
}

// readTemplates reads the templates of resources, and waits only briefly for them: many servers
// have none, and some never respond.
func (c *catalog) readTemplates(conn *rpc.Conn) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		ctx, cancel := within(c.owner.ctx, min(c.server.Timeout, connectTime))
		defer cancel()
		err := take(ctx, c, conn, protocol.MethodResourcesTemplatesList, "resourceTemplates", mostTemplates, func(found []rawResource) {
			c.set(func() { c.templates = shown(found) })
		})
		if err != nil {
			c.owner.log(c.server.Name, err.Error())
		}
	}()
	select {
	case <-read:
	case <-time.After(optionalTimeout):
	}
}

// take passes on the items of all pages of a list, up to a limit, of which it warns. It omits invalid
// items.
func take[T any](ctx context.Context, c *catalog, conn *rpc.Conn, method protocol.MCPMethod, key string, most int,
	over func([]T)) error {
	var all []T
	params := protocol.PaginatedParams{}
	next := protocol.Cursor("")
	for range mostPages {
		page := map[string]json.RawMessage{}
		if err := conn.Call(ctx, method, params, &page); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var items []json.RawMessage
		json.Unmarshal(page[key], &items)
		for _, item := range items {
			var one T
			if rpc.Decode(item, &one) != nil {
				continue
			}
			all = append(all, one)
		}
		next = ""
		if json.Unmarshal(page["nextCursor"], &next); next == params.Cursor {
			next = ""
		}
		if len(all) >= most || next == "" {
			break
		}
		params.Cursor = next
	}
	if next != "" || len(all) > most {
		all = all[:min(len(all), most)]
		c.warn(key, fmt.Sprintf("it lists too many %s; gemline takes the first %d, and leaves out the others", key, len(all)))
	}
	over(all)
	return nil
}

// markDirty marks a list to be read again.
func (c *catalog) markDirty(list protocol.MCPMethod) {
	c.set(func() { c.dirty[list] = true })
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// readAgain reads the changed lists again.
func (c *catalog) readAgain(ctx context.Context, conn *rpc.Conn) {
	var dirty map[protocol.MCPMethod]bool
	c.set(func() { dirty, c.dirty = c.dirty, map[protocol.MCPMethod]bool{} })
	ctx, cancel := within(ctx, min(c.server.Timeout, connectTime))
	defer cancel()
	for list := range dirty {
		if err := c.read(ctx, conn, list); err != nil {
			c.owner.log(c.server.Name, err.Error())
		}
	}
}

// sleep waits for d, or until ctx or conn ends.
func sleep(ctx context.Context, conn *rpc.Conn, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	case <-conn.Done():
	}
}

// A relisting limits how often the lists of a server are read.
type relisting struct {
	last time.Time
	n    int
}

// wait waits until lists may be read again.
func (p *relisting) wait(ctx context.Context, conn *rpc.Conn) {
	const (
		apart = 300 * time.Millisecond
		slow  = 30 * time.Second // after many changes in a row
		many  = 10
	)
	since := time.Since(p.last)
	if p.n++; since > slow {
		p.n = 0
	}
	least := apart
	if p.n > many {
		least = slow
	}
	if since < least {
		sleep(ctx, conn, least-since)
	}
	p.last = time.Now()
}

// clean returns a text of a server for the model and for display: cut to most characters, and
// without invisible characters.
func clean(s string, most int) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*most)], "")
	return text.Printable(text.Shorten(strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(s), most))
}

// cleanLine returns s on one line, as [clean] does.
func cleanLine(s string, most int) string { return clean(text.OneLine(s, most), most) }

// taken returns items without duplicate names, sorted by name.
func taken[T any](items []T, name func(T) string) []T {
	slices.SortStableFunc(items, func(a, b T) int { return bytes.Compare([]byte(name(a)), []byte(name(b))) })
	return slices.CompactFunc(items, func(a, b T) bool { return name(a) == name(b) })
}
