//go:build linux

package servers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
	"gemline/tools/mcp/oauth/oauthlab"
)

// remoteDesk is an MCP server by streamable HTTP.
func remoteDesk(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage
		Method string
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	result := map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}`,
		"tools/call": `{"content":[{"type":"text","text":"a lamp"}]}`,
	}[q.Method]
	if result == "" || q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
}

// A run says how to log in to a server; after a log-in by a pasted address the server is used,
// and after the log-in is forgotten it is not.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lab := oauthlab.New()
	lab.Serve = http.HandlerFunc(remoteDesk)
	t.Cleanup(lab.Close)
	s := et.NewServer(et.Says("No desk."), et.Says("", et.Call("1", "mcp_desk_look")), et.Says("Done."))
	t.Cleanup(s.Close)
	gemline := func(args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		if err := pt.Headless(t, s, dir, &out, &errs, args...).Run(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, errs.Bytes())
		}
		return out.String(), errs.String()
	}
	env := pt.Environment(filepath.Join(dir, "home"), s)
	add := exec.Command(pt.Self(t), "mcp", "add", "--scope", "user", "--trust", "desk", lab.URL())
	if add.Dir, add.Env = dir, env; add.Run() != nil {
		t.Fatal("the server can't be added")
	}
	if _, errs := gemline("-p", "look"); !strings.Contains(errs, "gemline mcp auth desk") {
		t.Errorf("told: %s", errs)
	}

	login := exec.Command(pt.Self(t), "mcp", "auth", "desk")
	login.Dir, login.Env = dir, env
	stdin, err := login.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := login.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	login.Stdout = &out
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		told.WriteString(lines.Text() + "\n")
		if !strings.HasPrefix(lines.Text(), lab.Issuer.URL) {
			continue
		}
		resp, err := browser.Get(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		fmt.Fprintln(stdin, resp.Header.Get("Location"))
	}
	if err := login.Wait(); err != nil || out.String() != "Successfully authenticated with MCP server 'desk'.\n" {
		t.Fatalf("%v: %s, %s", err, out.Bytes(), told.Bytes())
	}

	gemline("-p", "look")
	if got := pt.AnswerOf(t, s, "mcp_desk_look"); !strings.Contains(got, "a lamp") {
		t.Errorf("the answer: %s", got)
	}
	list := exec.Command(pt.Self(t), "mcp", "list")
	list.Dir, list.Env = dir, env
	if got, err := list.Output(); err != nil || !strings.Contains(string(got), "Connected (1 tool) (OAuth)") {
		t.Errorf("%v: %s", err, got)
	}
	forget := exec.Command(pt.Self(t), "mcp", "auth", "desk", "--forget")
	forget.Dir, forget.Env = dir, env
	if got, err := forget.Output(); err != nil || !strings.Contains(string(got), "is forgotten here") {
		t.Errorf("%v: %s", err, got)
	}
	test := exec.Command(pt.Self(t), "mcp", "test", "desk")
	test.Dir, test.Env = dir, env
	if got, err := test.Output(); err == nil || !strings.Contains(string(got), "OAuth not authenticated") {
		t.Errorf("%v: %s", err, got)
	}
	if p := lab.Problems(); len(p) > 0 {
		t.Errorf("the server found: %q", p)
	}
}

// At a terminal a log-in goes by a browser, which brings the answer itself, or by an address that
// is pasted. Servers are switched for the session, and connected to anew.
func TestMCPAtATerminal(t *testing.T) {
	t.Parallel()
	lab := oauthlab.New()
	lab.Serve = http.HandlerFunc(remoteDesk)
	t.Cleanup(lab.Close)
	c := pt.Terminal(t, et.NewServer())
	c.Term = "dumb"
	pt.Write(t, filepath.Dir(c.Dir), map[string]string{"home/.gemini/settings.json": fmt.Sprintf(`{"mcpServers": {"far": {"httpUrl": %q}}}`, lab.URL()),
		"browser": "#!/bin/sh\nprintf '%s\\n' \"$1\" >opened\nmv opened seen\n"})
	browser := filepath.Join(filepath.Dir(c.Dir), "browser")
	if err := os.Chmod(browser, 0o700); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "BROWSER="+browser)
	p := teletype.Start(t, c)
	p.Expect("\n> ")
	p.Line("/mcp auth far --browser")
	p.Expect("log in to far at this address:\r\n")
	p.Expect("browser opens it")
	var seen []byte
	et.Eventually(t, "a browser is opened", func() bool {
		seen, _ = os.ReadFile(filepath.Join(c.Dir, "seen"))
		return len(seen) > 0
	})
	resp, err := http.Get(strings.TrimSpace(string(seen))) // and on to the port of the log-in
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%q: %v, %v", seen, resp, err)
	}
	resp.Body.Close()
	p.Expect("\r\nSuccessfully authenticated with MCP server 'far'.")
	p.Line("/mcp auth far --forget")
	p.Expect("is forgotten here")
	p.Line("/mcp auth far")
	p.Expect("log in to far at this address:\r\n")
	address := strings.TrimSpace(p.Expect("\r\n"))
	p.Expect("goes on by itself: ")
	elsewhere := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if resp, err = elsewhere.Get(address); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	p.Line(resp.Header.Get("Location"))
	p.Expect("Successfully authenticated with MCP server 'far'.")
	stands := func(want string) {
		t.Helper()
		et.Eventually(t, want, func() bool {
			p.Expect("> ") // the end of the line before may have been read
			p.Line("/mcp far")
			p.Expect("far: http")
			return strings.HasSuffix(p.Expect("\r\n"), want+"\r\n")
		})
	}
	stands(" - Connected (1 tool) (OAuth)")
	for _, step := range [][]string{{"/mcp disable far --session", "disabled for this session", " - Disabled (OAuth)"},
		{"/mcp enable far --session", "enabled for this session", " - Connected (1 tool) (OAuth)"}, {"/mcp reload", "Reloading", " - Connected (1 tool) (OAuth)"}} {
		p.Line(step[0])
		p.Expect(step[1])
		stands(step[2])
	}
	p.Line("/quit")
	p.Exit()
	if p := lab.Problems(); len(p) > 0 {
		t.Errorf("the server found: %q", p)
	}
}
