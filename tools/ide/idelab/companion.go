// Package idelab is an editor's companion for tests: a server on loopback that is discovered
// and addressed like an editor's, and answers changes as a test chooses.
//
// # It refuses what a companion refuses
//
// A request of a web page, for another host, without the token or outside of a session gets
// an editor's answer.
package idelab

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A Companion is a companion for tests. Its fields are set before use.
type Companion struct {
	Token  string
	Refuse string // why it refuses to show changes; empty if it shows them

	t      testing.TB
	server *httptest.Server
	opened chan Diff
	closed chan Diff
	heard  chan struct{}

	mu      sync.Mutex
	streams []chan string // of events
	last    string        // the last update
	shown   map[string]string
	asked   []string // methods and tools
}

// A Diff is an open change.
type Diff struct {
	Path, Content string
}

// New starts a companion that ends with the test.
func New(t testing.TB) *Companion {
	c := &Companion{t: t, Token: "token-of-the-companion", opened: make(chan Diff, 16),
		closed: make(chan Diff, 16), heard: make(chan struct{}, 16), shown: map[string]string{}}
	c.server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// Close ends the companion as a closed editor does.
func (c *Companion) Close() {
	c.server.Listener.Close() // else it would wait for a client that reconnects at once
	c.server.CloseClientConnections()
	c.server.Close()
}

// Port returns the port of the companion.
func (c *Companion) Port() int {
	at, _ := url.Parse(c.server.URL)
	port, _ := strconv.Atoi(at.Port())
	return port
}

// Environ returns the variables that name the companion and its open folders.
func (c *Companion) Environ(folders ...string) []string {
	return []string{fmt.Sprint("GEMINI_CLI_IDE_SERVER_PORT=", c.Port()), "GEMINI_CLI_IDE_AUTH_TOKEN=" + c.Token,
		"GEMINI_CLI_IDE_WORKSPACE_PATH=" + strings.Join(folders, string(filepath.ListSeparator))}
}

// Write writes the file that announces the companion, below the directory of temporary
// files, and returns its path.
func (c *Companion) Write(temp string, pid int, name string, folders ...string) string {
	c.t.Helper()
	dir := filepath.Join(temp, "gemini", "ide")
	path := filepath.Join(dir, fmt.Sprintf("gemini-ide-server-%d-%d.json", pid, c.Port()))
	b, _ := json.Marshal(map[string]any{"port": c.Port(), "authToken": c.Token,
		"workspacePath": strings.Join(folders, string(filepath.ListSeparator)), "ideInfo": map[string]string{"name": name, "displayName": name}})
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// Update sends the list of open files.
func (c *Companion) Update(files ...map[string]any) {
	c.Notify("ide/contextUpdate", map[string]any{"workspaceState": map[string]any{"openFiles": files, "isTrusted": true}})
}

// Notify sends a message to all listeners; a later listener gets the last list of open
// files.
func (c *Companion) Notify(method string, params any) {
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	c.mu.Lock()
	defer c.mu.Unlock()
	if method == "ide/contextUpdate" {
		c.last = string(b)
	}
	for _, s := range c.streams {
		s <- string(b)
	}
}

// Listened waits for a listener that has got the open files.
func (c *Companion) Listened() { <-c.heard }

// Opened waits for the opening of a change.
func (c *Companion) Opened() Diff { return <-c.opened }

// Closed waits for the closing of a change.
func (c *Companion) Closed() Diff { return <-c.closed }

// Accept accepts a change, with content as its text.
func (c *Companion) Accept(path, content string) {
	c.forget(path)
	c.Notify("ide/diffAccepted", map[string]string{"filePath": path, "content": content})
}

// Reject refuses a change.
func (c *Companion) Reject(path string) {
	c.forget(path)
	c.Notify("ide/diffRejected", map[string]string{"filePath": path})
}

// Edit changes the text of a change that is open.
func (c *Companion) Edit(path, content string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown[path] = content
}

func (c *Companion) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.shown, path)
}

// Asked returns all requests so far, in order.
func (c *Companion) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

const session = "session-of-the-companion"

// ServeHTTP implements [http.Handler].
func (c *Companion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Origin") != "":
		http.Error(w, "Request denied by CORS policy.", http.StatusForbidden)
	case r.Host != fmt.Sprintf("127.0.0.1:%d", c.Port()) && r.Host != fmt.Sprintf("localhost:%d", c.Port()):
		http.Error(w, `{"error":"Invalid Host header"}`, http.StatusForbidden)
	case r.Header.Get("Authorization") != "Bearer "+c.Token:
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case r.Method == http.MethodPost:
		c.post(w, r)
	case r.Header.Get("Mcp-Session-Id") != session:
		http.Error(w, "Invalid or missing session ID", http.StatusBadRequest)
	case r.Method == http.MethodGet:
		c.listen(w, r)
	case r.Method == http.MethodDelete:
		c.note("delete")
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (c *Companion) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, what)
}

// listen sends the last list of open files, and then all messages.
func (c *Companion) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	events := make(chan string, 1000)
	c.mu.Lock()
	if c.last != "" {
		events <- c.last
	}
	c.streams = append(c.streams, events)
	c.asked = append(c.asked, "listen")
	c.mu.Unlock()
	defer func() { c.streamEnds(events) }()
	for {
		if w.(http.Flusher).Flush(); len(events) == 0 {
			select {
			case c.heard <- struct{}{}:
			default:
			}
		}
		select {
		case text := <-events:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
		case <-r.Context().Done():
			return
		}
	}
}

// streamEnds removes the stream of a disconnected listener.
func (c *Companion) streamEnds(events chan string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = slices.DeleteFunc(c.streams, func(s chan string) bool { return s == events })
}

// post answers a message.
func (c *Companion) post(w http.ResponseWriter, r *http.Request) {
	const most = 10 << 20
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments struct {
				FilePath, NewContent string
			}
		}
	}
	if err != nil || json.Unmarshal(b, &m) != nil {
		http.Error(w, "no message", http.StatusBadRequest)
		return
	}
	c.note(strings.TrimSpace(m.Method + " " + m.Params.Name))
	if m.Method != "initialize" && r.Header.Get("Mcp-Session-Id") != session {
		http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	path := m.Params.Arguments.FilePath
	switch m.Method + " " + m.Params.Name {
	case "initialize ":
		w.Header().Set("Mcp-Session-Id", session)
		answer["result"] = map[string]any{"protocolVersion": "2025-06-18",
			"capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo":   map[string]string{"name": "companion", "version": "1"}}
	case "tools/call openDiff":
		answer["result"] = c.show(Diff{path, m.Params.Arguments.NewContent})
	case "tools/call closeDiff":
		answer["result"] = c.take(path)
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

func (c *Companion) show(d Diff) any {
	if c.Refuse != "" {
		return map[string]any{"isError": true, "content": []any{map[string]string{"type": "text", "text": c.Refuse}}}
	}
	c.Edit(d.Path, d.Content)
	c.opened <- d
	return map[string]any{"content": []any{}}
}

func (c *Companion) take(path string) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, open := c.shown[path]
	var content any
	if delete(c.shown, path); open {
		content = text
	}
	b, _ := json.Marshal(map[string]any{"content": content})
	c.closed <- Diff{path, text}
	return map[string]any{"content": []any{map[string]string{"type": "text", "text": string(b)}}}
}
