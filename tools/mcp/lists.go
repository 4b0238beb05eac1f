package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// lists are the methods that list what a server has.
var lists = []protocol.MCPMethod{protocol.MethodToolsList, protocol.MethodPromptsList, protocol.MethodResourcesList}

// Bounds of what is taken from a server.
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

// read reads a list that the server says it has.
func (l *serverConn) read(ctx context.Context, c *rpc.Conn, list protocol.MCPMethod) error {
	l.mu.Lock()
	can := l.can
	l.mu.Unlock()
	switch {
	case list == protocol.MethodToolsList && can.Tools != nil:
		return take(ctx, c, list, "tools", mostTools, l.takeTools)
	case list == protocol.MethodPromptsList && can.Prompts != nil:
		return take(ctx, c, list, "prompts", mostPrompts, l.takePrompts)
	case list == protocol.MethodResourcesList && can.Resources != nil:
		err := take(ctx, c, list, "resources", mostResources, l.takeResources)
		if err == nil {
			l.readTemplates(c)
		}
		return err
	}
	return nil
}

// readTemplates reads the templates of resources. Many servers know of none, and some do not
// even say so: they are not waited for.
func (l *serverConn) readTemplates(c *rpc.Conn) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		ctx, cancel := within(l.set.ctx, min(l.timeout(), connectTime))
		defer cancel()
		err := take(ctx, c, protocol.MethodResourcesTemplatesList, "resourceTemplates", mostTemplates, l.takeTemplates)
		if err != nil {
			l.set.log(l.Name, err.Error())
		}
	}()
	select {
	case <-read:
	case <-time.After(optionalTimeout):
	}
}

// take hands over all pages of a list, and the first items of a very long one. An item that
// can't be understood is left out.
func take[T any](ctx context.Context, c *rpc.Conn, method protocol.MCPMethod, key string, most int,
	over func([]T)) error {
	var all []T
	params := protocol.PaginatedParams{}
	for range mostPages {
		page := map[string]json.RawMessage{}
		if err := c.Call(ctx, method, params, &page); err != nil {
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
		next := protocol.Cursor("")
		json.Unmarshal(page["nextCursor"], &next)
		if len(all) >= most || next == "" || next == params.Cursor {
			break
		}
		params.Cursor = next
	}
	over(all[:min(len(all), most)])
	return nil
}

// markDirty marks a list to be read again.
func (l *serverConn) markDirty(list protocol.MCPMethod) {
	l.mu.Lock()
	l.dirty[list] = true
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// readAgain reads the lists again that have changed, once more a moment later if nothing
// is new: some servers say so before it is true.
func (l *serverConn) readAgain(ctx context.Context, c *rpc.Conn) {
	const moment = 500 * time.Millisecond
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = map[protocol.MCPMethod]bool{}
	l.mu.Unlock()
	ctx, cancel := within(ctx, min(l.timeout(), connectTime))
	defer cancel()
	for _, list := range lists {
		if !dirty[list] {
			continue
		}
		before := l.fingerprint(list)
		for again := true; ; again = false {
			if err := l.read(ctx, c, list); err != nil {
				l.set.log(l.Name, err.Error())
				break
			}
			if !again || !bytes.Equal(before, l.fingerprint(list)) {
				break
			}
			sleep(ctx, c, moment)
		}
	}
}

// fingerprint returns what a list holds.
func (l *serverConn) fingerprint(list protocol.MCPMethod) []byte {
	st := l.status()
	b, _ := json.Marshal(map[protocol.MCPMethod]any{protocol.MethodToolsList: st.Tools,
		protocol.MethodPromptsList: st.Prompts, protocol.MethodResourcesList: st.Resources}[list])
	return b
}

// sleep waits so long, unless all is over before.
func sleep(ctx context.Context, c *rpc.Conn, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-c.Done():
	}
}

// A relisting keeps a server that changes all the time from being read all the time.
type relisting struct {
	last time.Time
	n    int
}

// wait waits until lists may be read again.
func (p *relisting) wait(ctx context.Context, c *rpc.Conn) {
	const (
		apart = 300 * time.Millisecond
		slow  = 30 * time.Second // after many in a row
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
		sleep(ctx, c, least-since)
	}
	p.last = time.Now()
}

// clean returns a text of a server as it may be shown to the model and to people: of so
// many characters at most, and without what can't be seen.
func clean(s string, most int) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*most)], "")
	return text.Escape(text.Shorten(strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(s), most))
}

// taken returns items, each name once, in the order of the names.
func taken[T any](items []T, name func(T) string) []T {
	slices.SortStableFunc(items, func(a, b T) int { return bytes.Compare([]byte(name(a)), []byte(name(b))) })
	return slices.CompactFunc(items, func(a, b T) bool { return name(a) == name(b) })
}
