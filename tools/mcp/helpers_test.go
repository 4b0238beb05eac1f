package mcp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/shell"
)

// npm returns the command of a server of the registry of Node's packages, which CI
// installs, or skips.
func npm(t *testing.T, name string) []string {
	t.Helper()
	cache, _ := os.UserCacheDir()
	dir := filepath.Join(cache, "gemline-tests", "mcp", "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	node, err := exec.LookPath("node")
	if _, serr := os.Stat(dir); err != nil || serr != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatalf("%v, %v", err, serr)
		}
		t.Skip("no " + name)
	}
	return []string{node, dir}
}

// A told is what a Set has told.
type told struct {
	mu   sync.Mutex
	said []string
}

func (o *told) add(s string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = append(o.said, s)
}

func (o *told) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.said, "\n")
}

// set returns a Set of servers that are connected to, and what it tells.
func set(t *testing.T, servers ...Server) (*Set, *told) {
	t.Helper()
	s, said := unconnected(t, servers...)
	s.Start()
	if late := s.Wait(t.Context(), 5*time.Minute); late != nil {
		t.Fatalf("late: %v; %s", late, said.text())
	}
	return s, said
}

func unconnected(t *testing.T, servers ...Server) (*Set, *told) {
	t.Helper()
	jobs := shell.NewJobs(t.TempDir())
	t.Cleanup(jobs.Close)
	said := &told{}
	for i := range servers {
		if servers[i].Rights == nil {
			servers[i].Rights = func() (bool, error) { return true, nil }
		}
	}
	dir := t.TempDir()
	s := New(Config{Servers: servers, Version: "1", Roots: func() []string { return []string{dir} }, Notify: said.add,
		Launcher: &launch.Launcher{Config: launch.Config{Shell: shell.Settings{Environ: os.Environ()}}, Jobs: jobs}})
	t.Cleanup(s.Close)
	return s, said
}

// A desk is the host of a call, with what it has shown, and who answers questions.
type desk struct {
	mu       sync.Mutex
	shown    []engine.Event
	proposed []engine.Proposal
	answer   func(engine.Proposal) engine.Answer
}

func (d *desk) Emit(ev engine.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown = append(d.shown, ev)
}

func (d *desk) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.proposed = append(d.proposed, p)
	if d.answer == nil {
		return nil, nil
	}
	return d.answer(p), nil
}

// call calls a tool of a conversation.
func call(t *testing.T, ts engine.Toolset, d *desk, name string, args map[string]any) (engine.Result, error) {
	t.Helper()
	for _, tool := range ts.Tools() {
		if tool.Name() == name {
			c, err := tool.Prepare(t.Context(), args)
			if err != nil {
				return engine.Result{}, err
			}
			return c.Run(t.Context(), d)
		}
	}
	t.Fatalf("no tool %s", name)
	return engine.Result{}, nil
}
