//go:build unix

package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	et "gemline/engine/enginetest"
)

// key is the user's, and must stay with the user.
const key = "AIzaSyCANARYcanaryCANARYcanaryCANARY0123"

// A nest is where a case happens: a workspace, a home, a directory outside of
// both, and a server.
type nest struct {
	t           *testing.T
	d           string // holds the others
	ws, home, o string
	server      *et.Server
	attack

	mu    sync.Mutex
	turns [][]string
	pid   atomic.Int64 // of the program
}

// build makes what the case l begins with.
func build(t *testing.T, l line) *nest {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := &nest{t: t, d: d, ws: filepath.Join(d, "ws"), home: filepath.Join(d, "home"), o: filepath.Join(d, "out")}
	n.server = et.NewServer()
	n.server.Respond = n.respond
	t.Cleanup(n.server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(n.server.URL, "http://"), ":")
	n.attack = decode(t, strings.NewReplacer("{{WS}}", n.ws, "{{HOME}}", n.home, "{{OUT}}", n.o, "{{D}}", n.d, "{{PORT}}", port).Replace(l.raw))
	n.turns = turns(t, n.Call)
	n.needs()

	for _, dir := range []string{n.ws, filepath.Join(n.home, ".gemini"), n.o, filepath.Join(d, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if n.Setup.Mode == "two-run" { // trusted once and for all, and by no flag, which would be an agreement
		n.write(filepath.Join(n.home, ".gemini", "trustedFolders.json"), `{"`+n.ws+`": "TRUST_FOLDER"}`, 0o600)
	}
	for name, f := range n.Setup.Files {
		n.write(n.at(name), f.text, f.mode)
	}
	for name, to := range n.Setup.Symlinks {
		at := n.at(name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	if n.Setup.Prep != "" {
		n.script(n.Setup.Prep)
	}
	n.settings()
	n.listen()
	return n
}

// at returns the path of a file that a case names.
func (n *nest) at(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(n.home, rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(n.ws, name)
}

func (n *nest) write(path, text string, mode os.FileMode) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		n.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		n.t.Fatal(err)
	}
}

// settings writes the settings and rules.
func (n *nest) settings() {
	n.t.Helper()
	user := map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}}
	if n.Setup.UserSettings != nil {
		var more map[string]any
		if err := json.Unmarshal(n.Setup.UserSettings, &more); err != nil {
			n.t.Fatal(err)
		}
		if s, ok := more["security"].(map[string]any); ok {
			maps.Copy(s, user["security"].(map[string]any))
		}
		maps.Copy(user, more)
	}
	if at := filepath.Join(n.home, ".gemini/settings.json"); !exists(at) {
		b, _ := json.Marshal(user)
		n.write(at, string(b), 0o644)
	}
	if n.Setup.WSSettings != nil {
		text := string(n.Setup.WSSettings)
		if strings.HasPrefix(text, `"`) {
			json.Unmarshal(n.Setup.WSSettings, &text)
		}
		n.write(n.at(".gemini/settings.json"), text, 0o644)
	}
	if n.Setup.Policy != "" {
		n.write(filepath.Join(n.d, "p.toml"), n.Setup.Policy, 0o644)
	}
}

// listen starts what a case wants to have listening.
func (n *nest) listen() {
	name, ok := strings.CutPrefix(n.Setup.Helper, "listen abstract ")
	if n.Setup.Helper == "" {
		return
	}
	if !ok {
		n.t.Fatalf("what is %q?", n.Setup.Helper)
	}
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { l.Close() })
}

// script runs a script as the user would, and returns what it prints.
func (n *nest) script(text string) string {
	n.t.Helper()
	cmd := exec.Command("bash", "-c", text)
	cmd.Dir = n.ws
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + n.home, "WS=" + n.ws, "OUT=" + n.o, "D=" + n.d,
		"GIT_CONFIG_NOSYSTEM=1", "GEMINI_API_KEY=fake", "AGENT_BIN=" + program(n.t), "TMPDIR=" + filepath.Join(n.d, "tmp")}
	out, err := cmd.CombinedOutput()
	if err != nil && testing.Verbose() {
		n.t.Logf("the script ends with %v: %s", err, out)
	}
	return string(out)
}

// respond is the model.
func (n *nest) respond(r et.Received) et.Reply {
	if body := n.Setup.APIErrorBody; body != nil {
		return et.Reply{Wire: &et.Wire{Status: http.StatusBadRequest, Body: *body}}
	}
	if r.Action == "generateContent" {
		if n.Setup.AuxFail {
			return et.Status(http.StatusBadRequest, "INVALID_ARGUMENT", "aux refused")
		}
		text := n.Setup.AuxText
		if text == "" {
			text = "{}"
		}
		return et.Says(text)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	chunks := []string{textPart("done")}
	if len(n.turns) > 0 {
		chunks, n.turns = n.turns[0], n.turns[1:]
	}
	var body strings.Builder
	for i, c := range chunks {
		reason := ""
		if i == len(chunks)-1 {
			reason = `,"finishReason":"STOP"`
		}
		c = strings.ReplaceAll(c, "{{AGENTPID}}", strconv.FormatInt(n.pid.Load(), 10))
		body.WriteString(et.Event(fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"index":0%s}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`, c, reason)))
	}
	return et.Reply{Wire: &et.Wire{Body: body.String(), Header: http.Header{"Content-Type": {"text/event-stream"}}}}
}

// environment is that of the program.
func (n *nest) environment() []string {
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": n.home, "TERM": "xterm-256color", "LANG": "C.UTF-8", "TMPDIR": filepath.Join(n.d, "tmp"),
		"GEMINI_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": n.server.URL, "GEMINI_FORCE_FILE_STORAGE": "true", "GIT_CONFIG_NOSYSTEM": "1"}
	for name, value := range n.Setup.Env {
		delete(env, name)
		if value != nil {
			env[name] = *value
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// flags are those that all runs of a case have.
func (n *nest) flags() []string {
	var args []string
	if n.Setup.Policy != "" {
		args = append(args, "--policy", filepath.Join(n.d, "p.toml"))
	}
	if (n.Setup.Trust == nil || *n.Setup.Trust) && n.Setup.Mode != "two-run" {
		args = append(args, "--skip-trust")
	}
	return append(append(args, "-m", "gemini-2.5-flash"), n.Setup.Argv...)
}

func (n *nest) prompt() string {
	if n.Setup.Prompt != nil {
		return *n.Setup.Prompt
	}
	return "go"
}

// command returns the program with args, which nothing of its own outlives, and
// a function that says whether it took too long.
func (n *nest) command(args []string) (*exec.Cmd, func() bool) {
	limit := 90 * time.Second // the machine may be a slow one, and busy
	if s := time.Duration(n.Setup.Timeout) * time.Second; s > limit {
		limit = s
	}
	ctx, stop := context.WithTimeout(n.t.Context(), limit)
	n.t.Cleanup(stop)
	argv := append([]string{program(n.t)}, args...)
	if n.Setup.Mode == "umask0" {
		argv = append([]string{"sh", "-c", `umask 0; exec "$@"`, "sh"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = n.at(n.Setup.Cwd)
	cmd.Env = n.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, func() bool { return ctx.Err() != nil }
}

// run runs the program without anybody to ask.
func (n *nest) run() outcome {
	n.t.Helper()
	args := n.Setup.RawArgv
	if args == nil {
		format := n.Setup.Format
		if format == "" {
			format = "stream-json"
		}
		args = append(n.flags(), "-p", n.prompt(), "-o", format)
	}
	cmd, late := n.command(args)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(n.Setup.Stdin), &out, &errs
	if n.Setup.Stdin == "" {
		cmd.Stdin = nil
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.pid.Store(int64(cmd.Process.Pid))
	cmd.Wait()
	return outcome{stdout: out.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode(), hung: late(),
		took: time.Since(began), calls: callsIn(out.String())}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
