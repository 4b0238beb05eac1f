package front

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/commands/program/project"
	"gemline/repl/acp"
	dirs "gemline/settings/project"
)

// An editor signs its user in by each method, in an order as it comes: what can't be had is
// an error, and the editor is served on. After a key was given sessions begin.
func TestEditorSignsIn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	r, _, err := New(project.Process{Args: []string{"--skip-trust", "--sandbox=off", "--acp"}, Stderr: os.Stderr,
		Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH")} },
		Lookup:  func(name string) (string, bool) { return home, name == "GEMINI_CLI_HOME" }})
	if err == nil {
		err = r.Options.Read(t.TempDir(), false)
	}
	if err != nil {
		t.Fatal(err)
	}
	in, out := pipe(t)
	back, feed := pipe(t)
	r.Options.Env.Process.Stdin, r.Options.Env.Process.Stdout = in, feed
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.serveACP(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	lines := bufio.NewReader(back)
	ask := func(method, params string) (code int, message string) {
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}`+"\n", method, params)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(method, params, err)
			}
			var m struct {
				ID    int
				Error struct {
					Code    int
					Message string
				}
			}
			if json.Unmarshal([]byte(line), &m) == nil && m.ID == 1 {
				return m.Error.Code, m.Error.Message
			}
		}
	}
	settings := filepath.Join(home, ".gemini", "settings.json")
	session := fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, t.TempDir())
	for _, c := range []struct {
		method, params string
		code           int
		want, chosen   string // in the message, and in the settings
	}{
		{"initialize", `{"protocolVersion":1,"clientCapabilities":{}}`, 0, "", ""},
		{"session/new", session, -32000, "no API key", ""},
		{"session/load", `{"sessionId":"x",` + session[1:], -32000, "no API key", ""},
		{"session/resume", `{"sessionId":"x",` + session[1:], -32000, "no API key", ""},
		{"authenticate", `{"methodId":"oauth-personal"}`, -32602, "no method", ""},
		{"authenticate", `{"methodId":"terminal"}`, -32602, "no method", ""},
		{"authenticate", `{}`, -32602, "no method", ""},
		{"authenticate", `[]`, -32602, "", ""},
		{"authenticate", `{"methodId":"vertex-ai"}`, 0, "", "vertex-ai"},
		{"session/new", session, -32000, "GOOGLE_CLOUD_PROJECT", "vertex-ai"},
		{"authenticate", `{"methodId":"compute-default-credentials"}`, 0, "", "compute-default-credentials"},
		{"authenticate", `{"methodId":"gemini-api-key"}`, 0, "", "gemini-api-key"},
		{"session/new", session, -32000, "no API key", "gemini-api-key"},
		{"authenticate", `{"methodId":"gemini-api-key","_meta":{"api-key":"opensesame"}}`, 0, "", "gemini-api-key"},
		{"session/new", session, 0, "", "gemini-api-key"},
		{"authenticate", `{"methodId":"gateway","_meta":{"gateway":{"baseUrl":"http://127.0.0.1:9","headers":{"A":"b"}}}}`, 0, "", "gateway"},
	} {
		code, message := ask(c.method, c.params)
		if code != c.code || !strings.Contains(message, c.want) {
			t.Errorf("%s %s: %d %q", c.method, c.params, code, message)
		}
		if b, _ := os.ReadFile(settings); !strings.Contains(string(b), c.chosen) {
			t.Errorf("%s %s: settings are %s", c.method, c.params, b)
		}
	}
}

// Editors name their servers in three ways, and what is none of these is said.
func TestServersOfEditors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   acp.Server
		want string
	}{
		{acp.Server{Name: "a", Command: "run"}, "run  "},
		{acp.Server{Name: "a", Type: "stdio", Command: "run"}, "run  "},
		{acp.Server{Name: "a", Type: "http", URL: "http://h"}, " http://h "},
		{acp.Server{Name: "a", URL: "http://h"}, " http://h "},
		{acp.Server{Name: "a", Type: "sse", URL: "http://h"}, "  http://h sse"},
		{acp.Server{Name: "a", Type: "ws", URL: "ws://h"}, `the editor says that its type is "ws"; there are stdio, http and sse`},
		{acp.Server{Name: "a"}, "the editor says neither a command nor an address of it"},
		{acp.Server{Command: "run"}, "the editor says no name of it"},
	} {
		s := serversOf([]acp.Server{tt.in})[0]
		got := strings.TrimSuffix(strings.Join([]string{s.Command, s.HTTPURL, s.URL, s.Type}, " "), " ")
		if s.Err != nil {
			got = s.Err.Error()
		}
		if strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
			t.Errorf("%+v: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A list that waits for another list ends with the editor, and reads no sessions.
func TestListsEndWithTheEditor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := &acpServer{opts: &project.Options{Paths: dirs.New(t.TempDir(), "", dir)}}
	if _, err := e.opts.Paths.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := e.list(ctx, dir); err != context.Canceled {
		t.Errorf("%v, %v", all, err)
	}
}
