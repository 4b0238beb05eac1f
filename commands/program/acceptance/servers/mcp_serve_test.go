//go:build linux

package servers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A served is what a step of the client of commands/program/acceptance/testdata/mcp gave.
type served struct {
	Waits  bool
	Result struct {
		Content []struct{ Type, Text string }
		IsError bool
		Tools   []struct {
			Name        string
			InputSchema json.RawMessage
		}
		Meta map[string]any `json:"_meta"`
	}
	Error    string
	Progress []string
	Logged   []string
	Asked    []struct {
		Message         string
		RequestedSchema struct {
			Properties map[string]struct{ Enum []string }
		}
	}
}

// text returns what a result says.
func (s served) text() string {
	var all []string
	for _, c := range s.Result.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}

// servingClient returns the command of a client, and where it begins the program to serve it.
func servingClient(t *testing.T, s *et.Server, over string, steps []map[string]any, flags ...string) (client *exec.Cmd, dir string, errs *bytes.Buffer) {
	t.Helper()
	t.Cleanup(s.Close)
	node := pt.Need(t, "node")
	cache, err := os.UserCacheDir()
	sdk := filepath.Join(cache, "gemline-tests", "mcp", "node_modules", "@modelcontextprotocol", "sdk")
	if _, serr := os.Stat(sdk); err != nil || serr != nil {
		pt.Lack(t, serr)
	}
	errs, dir = &bytes.Buffer{}, t.TempDir()
	serve := pt.Headless(t, s, dir, nil, errs, append([]string{"--skip-trust", "mcp", "serve"}, flags...)...)
	var where any
	if over == "http" {
		serve.Args = append(serve.Args, "--http")
		out, err := serve.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			serve.Process.Signal(os.Interrupt)
			if err := serve.Wait(); serve.ProcessState.ExitCode() != 130 {
				t.Errorf("%v: %s", err, errs.Bytes())
			}
		})
		line, err := bufio.NewReader(out).ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &where) != nil {
			t.Fatalf("%q, %v; %s", line, err, errs.Bytes())
		}
	} else {
		env := map[string]string{}
		for _, kv := range serve.Env {
			name, value, _ := strings.Cut(kv, "=")
			env[name] = value
		}
		where = map[string]any{"command": serve.Path, "args": serve.Args[1:], "env": env, "cwd": dir}
	}
	at, _ := json.Marshal(where)
	script, _ := json.Marshal(steps)
	client = exec.Command(node, "commands/program/acceptance/testdata/mcp/client.mjs", sdk, string(at), string(script))
	client.Stderr = errs
	return client, dir, errs
}

// Another program gives gemline tasks by the Model Context Protocol, over each transport,
// with the SDK that most clients are made with: its user allows a call, refuses one and
// cancels a task, a conversation is gone on with, and single tools are called.
func TestMCPServe(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			write := func(name string) et.Reply {
				return et.Says("", et.Call("1", "write_file", "file_path", name, "content", "text\n"))
			}
			s := et.NewServer(write("a.txt"), et.Says("Written."), write("b.txt"), et.Says("Left."), write("c.txt"), et.Says("Again."))
			type m = map[string]any
			say := func(decision, note string) []m {
				return []m{{"action": "accept", "content": m{"decision": decision, "note": note}}}
			}
			client, dir, errs := servingClient(t, s, over, []m{
				{},
				{"tool": "ask", "args": m{"prompt": "write a @b /help", "session": "one"}, "answers": say("allow", "")},
				{"tool": "ask", "args": m{"prompt": "write b", "session": "one"}, "answers": say("deny", "not that one")},
				{"tool": "ask", "args": m{"prompt": "write c"}, "abort": true},
				{"tool": "ask", "args": m{"prompt": "again"}},
				{"tool": "read_file", "args": m{"file_path": "a.txt"}},
				{"tool": "write_file", "args": m{"file_path": "d.txt", "content": "d\n"}, "answers": []m{{"action": "decline"}}},
				{"tool": "write_file", "args": m{"file_path": "e.txt", "content": "e\n"}, "answers": say("allow", "")},
				{"tool": "no_such"},
			})
			out, err := client.Output()
			if err != nil {
				t.Fatalf("%v: %s%s", err, out, errs.Bytes())
			}
			got := pt.Documents[served](t, out)
			if len(got) != 9 {
				t.Fatalf("%d steps: %s%s", len(got), out, errs.Bytes())
			}
			checkServed(t, got, dir)
			asked := string(pt.Streamed(s)[2].Body)
			for _, want := range []string{"write a @b /help", "write b"} {
				if !strings.Contains(asked, want) {
					t.Errorf("the second task's request lacks %q", want)
				}
			}
			if last := string(pt.Streamed(s)[3].Body); !strings.Contains(last, "not that one") {
				t.Error("the model was not told why")
			}
		})
	}
}

// checkServed checks what the steps gave.
func checkServed(t *testing.T, got []served, dir string) {
	t.Helper()
	var names []string
	for _, tool := range got[0].Result.Tools {
		names = append(names, tool.Name)
		if !bytes.Contains(tool.InputSchema, []byte(`"session"`)) {
			t.Errorf("%s: %s", tool.Name, tool.InputSchema)
		}
	}
	list := " " + strings.Join(names, " ") + " "
	for name, want := range map[string]bool{"ask": true, "read_file": true, "write_file": true, "run_shell_command": true, "ask_user": false, "write_todos": false} {
		if strings.Contains(list, " "+name+" ") != want {
			t.Errorf("tools: %s", list)
		}
	}
	for i, want := range map[int]string{1: "Written.", 2: "Left.", 4: "Again.", 5: "text", 6: "", 7: "", 8: ""} {
		if !strings.Contains(got[i].text(), want) {
			t.Errorf("step %d: %+v", i, got[i])
		}
	}
	for i, want := range map[int]string{3: "AbortError", 8: "there is no tool"} {
		if !strings.Contains(got[i].Error, want) {
			t.Errorf("step %d: %q", i, got[i].Error)
		}
	}
	if a := got[1].Asked; len(a) != 1 || !strings.Contains(a[0].Message, "a.txt") || len(a[0].RequestedSchema.Properties["decision"].Enum) < 3 {
		t.Errorf("asked: %+v", a)
	}
	if p := strings.Join(got[1].Progress, "\n"); !strings.Contains(p, "a.txt") || !strings.Contains(p, "the user is asked") {
		t.Errorf("progress: %s", p)
	}
	if got[1].Result.Meta["gemline/session"] != "one" || !got[6].Result.IsError || got[7].Result.IsError {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]bool{"a.txt": true, "b.txt": false, "c.txt": false, "d.txt": false, "e.txt": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// When a client is killed, when the server is told to stop and when it is killed, nothing is
// left of what it did.
func TestMCPServeLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		over   string
		client syscall.Signal
		server syscall.Signal
	}{
		"client killed":         {"stdio", syscall.SIGKILL, 0},
		"client by HTTP killed": {"http", syscall.SIGKILL, 0},
		"stopped":               {"stdio", 0, syscall.SIGINT},
		"killed":                {"stdio", 0, syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "touch began; sleep 1000 & sleep 1000")), et.Says("Done."))
			client, dir, errs := servingClient(t, s, c.over, []map[string]any{{"tool": "ask", "args": map[string]any{"prompt": "go"}}}, "--approval-mode", "yolo")
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Process.Kill(); client.Wait() })
			et.Eventually(t, "begun", func() bool { _, err := os.Stat(filepath.Join(dir, "began")); return err == nil })
			if c.client != 0 {
				client.Process.Signal(c.client)
			}
			if c.server != 0 {
				for _, pid := range pt.Workers(dir) {
					if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == pt.Self(t) {
						syscall.Kill(pid, c.server)
					}
				}
			}
			least := map[string]int{"http": 1}[c.over] // the server serves others
			et.Eventually(t, "over", func() bool { return len(pt.Workers(dir)) <= least })
			if len(pt.Workers(dir)) < least {
				t.Errorf("the server is gone: %s", errs.Bytes())
			}
		})
	}
}
