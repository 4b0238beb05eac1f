//go:build linux

package safety

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// tree returns what is below a directory: of each path its mode, time and content, or
// where it leads.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		said := fmt.Sprint(info.Mode(), info.ModTime())
		switch {
		case info.Mode().IsRegular():
			b, rerr := os.ReadFile(path)
			said, err = fmt.Sprintf("%s %x", said, sha256.Sum256(b)), rerr
		case info.Mode()&fs.ModeSymlink != 0:
			said, err = os.Readlink(path)
		}
		rel, _ := filepath.Rel(dir, path)
		all[rel] = said
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shellForms returns the command lines that other tests have: those of developers and
// agents, and those by which programs write, dial and run others. It is a tenth of them,
// but for long runs of the tests.
func shellForms(t *testing.T, dir string) (forms []string) {
	t.Helper()
	at, outs := 0, []string{"new", "a.txt", "../outside.txt", "/proc/self/cwd/a.txt", "sub/../new", "link.txt"}
	for _, file := range []string{"tools/command/testdata/corpus/commands.txt", "tools/command/testdata/looks/commands.txt"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			if at++; at%10 == 0 || et.Soak() {
				forms = append(forms, strings.NewReplacer("OUT", outs[len(forms)%len(outs)], "PORT", "9", "SOCKET", filepath.Join(dir, "socket"), "ROOT", dir).Replace(line))
			}
		}
	}
	return forms
}

// attempts returns calls of every tool that would change something, if they could.
func attempts(dir string) (calls []*genai.FunctionCall) {
	add := func(name string, kv ...any) {
		calls = append(calls, et.Call(fmt.Sprint("t", len(calls)), name, kv...))
	}
	for _, path := range []string{"a.txt", "./a.txt", dir + "/a.txt", "../outside.txt", "sub/new.md", "README.md/x.md", "plans/../../../../a.txt", "plans/../a.txt", "plans/sub/x.md",
		"plan.txt", ".md", ".hidden.md", "plan.md/", "pl\nan.md", "~/x.md", "plan.md\x00.txt", "@a.txt", "link.txt", "linked/x.md", dir + "/plans/x.md", "/tmp/gemline-plan.md"} {
		add("write_file", "file_path", path, "content", "written")
		add("replace", "file_path", path, "instruction", "x", "old_string", "alpha", "new_string", "written")
		add("replace", "file_path", path, "instruction", "x", "old_string", "", "new_string", "written")
	}
	for _, name := range []string{"a.txt", "../a.txt", "/etc/passwd", "none.md", "", ".", "link.txt", "sub/x.md"} {
		add("exit_plan_mode", "plan_filename", name)
	}
	add("enter_plan_mode")
	add("write_todos", "todos", []any{map[string]any{"description": "x", "status": "pending"}})
	add("web_fetch", "prompt", "get http://127.0.0.1:9/", "url", "http://127.0.0.1:9/")
	add("ask_user", "questions", []any{map[string]any{"question": "May I?", "header": "x", "type": "yesno"}})
	add("update_topic", "title", "x", "summary", "y", "strategic_intent", "z")
	add("list_background_processes")
	add("read_background_output", "pid", 1)
	for _, name := range []string{"read_file", "list_directory", "glob", "grep_search", "get_internal_docs", "save_memory", "no_such_tool"} {
		add(name, "file_path", "a.txt", "dir_path", ".", "pattern", "*")
	}
	for _, name := range []string{"tracker_create_task", "tracker_update_task", "tracker_get_task", "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize"} {
		add(name, "title", "x", "description", "y", "type", "task", "id", "../a.txt", "taskId", "../../a", "dependencyId", "000000", "status", "closed")
	}
	add("activate_skill", "name", "none")
	for _, more := range [][]any{{"is_background", true}, {"read_only", true}, {"dir_path", ".."}, {"modified_by_user", true},
		{"additional_permissions", map[string]any{"network": true, "fileSystem": map[string]any{"write": []any{dir, filepath.Dir(dir)}, "protected": true}}}} {
		add("run_shell_command", append([]any{"command", "touch made; echo x > made2"}, more...)...)
		add("run_shell_command", append([]any{"command", "cat a.txt; rm a.txt"}, more...)...)
	}
	return calls
}

// Whatever is called in plan mode, by every tool and in many forms of the shell,
// and whatever rules allow: nothing changes but the plan and what gemline keeps itself.
func TestPlanModeWritesThePlanAlone(t *testing.T) {
	t.Parallel()
	if !pt.Confined() {
		t.Skip("the kernel does not confine commands here")
	}
	pt.Need(t, "git")
	top := t.TempDir()
	dir, home := filepath.Join(top, "project"), filepath.Join(top, "home")
	pt.Write(t, top, map[string]string{
		"project/a.txt": "alpha\n", "project/b.txt": "b\na\n", "project/README.md": "read\n", "project/src/x.py": "print()\n", "project/package.json": "{}\n", "outside.txt": "alpha\n",
		"home/.gemini/settings.json":     `{"tools": {"shell": {"inactivityTimeout": 5}}, "experimental": {"taskTracker": true}, "model": {"disableLoopDetection": true}}`,
		"home/.gemini/policies/all.toml": "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 999\nallowRedirection = true\nnetwork = true\n",
	})
	for from, to := range map[string]string{"link.txt": "../outside.txt", "linked": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("sh", "-c", "cd "+dir+" && git init -q && git add a.txt && git -c user.name=a -c user.email=a@example.org commit -qm begin").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	calls := attempts(dir)
	forms := shellForms(t, dir)
	for i, form := range forms {
		calls = append(calls, et.Call(fmt.Sprint("s", i), "run_shell_command", "command", form))
	}
	calls = append(calls, et.Call("p", "write_file", "file_path", "plan.md", "content", "1. Do it.\n"), et.Call("e", "exit_plan_mode", "plan_filename", "plan.md"),
		et.Call("after", "write_file", "file_path", "a.txt", "content", "written"))
	if testing.Short() {
		calls = calls[len(calls)-3:]
	}
	server := et.NewServer(et.Says("", et.Call("g", "google_web_search", "query", "x")), et.Says("Found nothing."), // which a model is asked for
		et.Says("", et.Call("a", "invoke_agent", "agent_name", "generalist", "prompt", "Write a.txt.")), // and what an agent tries
		et.Says("", et.Call("a1", "write_file", "file_path", "a.txt", "content", "written"), et.Call("a2", "run_shell_command", "command", "touch made; rm b.txt")),
		et.Says("", et.Call("a3", "complete_task", "result", "Nothing could be written.", "response", "Nothing could be written.")))
	t.Cleanup(server.Close)
	for some := range slices.Chunk(calls, 20) {
		server.Add(et.Says("", some...))
	}
	server.Add(et.Says("Done."))
	before := tree(t, top)
	cmd := pt.Headless(t, server, dir, io.Discard, io.Discard, "--skip-trust", "--approval-mode", "plan", "--max-turns", "200", "-q", "-p", "go")
	cmd.Env = pt.Environment(home, server)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`^home/\.(gemini(/(gemline.*|projects\.json.*|history.*|tmp(/[^/]+(/(chats|tool-outputs|\.project_root|tmp)(/.*)?|/[-0-9a-f]{36}(/plans(/plan\.md)?|/tracker.*)?)?)?))?|cache.*)$|^home$`)
	after, plans := tree(t, top), 0
	for path, is := range after {
		if strings.HasSuffix(path, "/plans/plan.md") {
			plans++
		}
		if was, there := before[path]; (!there || was != is) && !own.MatchString(path) {
			t.Errorf("%s: %q is now %q", path, was, is)
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			t.Errorf("%s is gone", path)
		}
	}
	for _, path := range []string{"/tmp/made", "/tmp/gemline-plan.md", "/dev/shm/made"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	requests := server.Requests()
	last := string(requests[len(requests)-1].Body)
	if plans != 1 || !strings.Contains(last, "plan mode stays on") || !strings.Contains(last, "a.txt is none.") || !strings.Contains(last, "Nothing could be written.") {
		t.Errorf("%d plans", plans)
	}
	var first struct {
		Tools []struct{ FunctionDeclarations []struct{ Name string } }
	}
	if err := json.Unmarshal(requests[0].Body, &first); err != nil || len(first.Tools) == 0 {
		t.Fatalf("no tools are declared: %v", err)
	}
	for _, f := range first.Tools[0].FunctionDeclarations {
		called := func(c *genai.FunctionCall) bool { return c.Name == f.Name }
		if !testing.Short() && f.Name != "google_web_search" && f.Name != "invoke_agent" && !slices.ContainsFunc(calls, called) {
			t.Errorf("%s is not called", f.Name)
		}
	}
	if n := strings.Count(last, `"id":"s`) / 2; !testing.Short() && (n < et.Rounds(60, 600) || n != len(forms)) {
		t.Errorf("%d forms of the shell, of %d", n, len(forms))
	}
	t.Logf("%d calls, %d of them of the shell; %d were denied", len(calls), len(forms), strings.Count(last, "Plan mode is read-only"))
}
