//go:build unix

package pipes

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
	"gemline/repl/schematest"
)

// An ending is a way in which a run ends.
type ending struct {
	name    string
	args    []string
	env     []string
	files   map[string]string // below the directory that is worked in; home is the user's
	replies []et.Reply
	during  func(*process) // what happens to the run
	piped   bool           // standard input is a pipe
	inside  []string       // the command that runs it, if any
	code    int
	reason  string
	stderr  string // matches all of it, if given
}

// endings are as many as there are.
var endings = []ending{
	{name: "well", args: []string{"-p", "hi"}, replies: []et.Reply{et.Says("Hello.")}, reason: "completed", stderr: "^$"},
	{name: "well, quietly", args: []string{"-q", "-p", "hi", "--max-attempts", "3"}, replies: []et.Reply{et.RateLimited(0), et.Says("Hello.")}, reason: "completed", stderr: "^$"},
	{name: "an empty answer", args: []string{"-p", "/stats"}, reason: "completed", stderr: "^$"},
	{name: "well, with a warning", args: []string{"-p", "hi"}, files: map[string]string{"home/.gemini/settings.json": `{"nonsense": 1}`},
		replies: []et.Reply{et.Says("Hello.")}, reason: "completed", stderr: "^warning: .*nonsense"},
	{name: "an unknown flag", args: []string{"-p", "hi", "--nonsense"}, code: 2, reason: "usage"},
	{name: "an unknown flag before all", args: []string{"--nonsense=1"}, code: 2, reason: "usage"},
	{name: "a bad value", args: []string{"--max-turns", "many", "-p", "hi"}, code: 2, reason: "usage"},
	{name: "a flag without its value", args: []string{"hi", "--model"}, code: 2, reason: "usage"},
	{name: "two formats", args: []string{"-p", "hi", "-o", "jsno"}, code: 2, reason: "usage"},
	{name: "flags at odds", args: []string{"-p", "hi", "-y", "--approval-mode", "plan"}, code: 2, reason: "usage"},
	{name: "a closed descriptor", args: []string{"-p", "hi", "--json-fd", "9"}, code: 2, reason: "usage", stderr: "^error: --json-fd: descriptor 9 is not open"},
	{name: "no prompt", code: 42, reason: "input"},
	{name: "no such session", args: []string{"-p", "hi", "--resume", "7"}, code: 42, reason: "input"},
	{name: "no such recording", args: []string{"-p", "hi", "--fake-responses", "none"}, code: 42, reason: "input"},
	{name: "no key", args: []string{"-p", "hi"}, env: []string{"GEMINI_API_KEY="}, code: 41, reason: "auth"},
	{name: "a bad key", args: []string{"-p", "hi"}, replies: []et.Reply{et.BadKey()}, code: 41, reason: "auth"},
	{name: "broken settings", args: []string{"-p", "hi"}, files: map[string]string{"home/.gemini/settings.json": "{"}, code: 52, reason: "config"},
	{name: "a bad proxy", args: []string{"-p", "hi"}, env: []string{"HTTPS_PROXY=ftp://x:y", "HTTP_PROXY=ftp://x:y"}, code: 52, reason: "config"},
	{name: "an untrusted folder", args: []string{"-p", "hi"}, files: map[string]string{"GEMINI.md": "x"}, code: 55, reason: "untrusted"},
	{name: "a terminal is needed", args: []string{"-i", "hi"}, code: 42, reason: "input"},
	{name: "a quota", args: []string{"-p", "hi"}, replies: []et.Reply{et.DailyQuota()}, code: 67, reason: "quota"},
	{name: "no such model", args: []string{"-p", "hi"}, replies: []et.Reply{et.NotFound("x"), et.NotFound("x")}, code: 1, reason: "not_found"},
	{name: "a bad request", args: []string{"-p", "hi"}, replies: []et.Reply{et.BadRequest("no")}, code: 1, reason: "bad_request"},
	{name: "a refusal", args: []string{"-p", "hi"}, replies: []et.Reply{et.Blocked()}, code: 66, reason: "refused"},
	{name: "no server", args: []string{"-p", "hi", "--max-attempts", "1"}, replies: []et.Reply{et.Unavailable()}, code: 68, reason: "unavailable"},
	{name: "in circles", args: []string{"-p", "hi"}, replies: []et.Reply{et.Says(strings.Repeat("And the same again. ", 99)), et.Says(strings.Repeat("And the same again. ", 99))},
		code: 69, reason: "loop"},
	{name: "red", args: []string{"-p", "hi", "-y", "--check", "exit 3", "--check-rounds", "0"}, replies: []et.Reply{
		et.Says("", et.Call("1", "write_file", "file_path", "new.txt", "content", "x")), et.Says("Done.")}, code: 71, reason: "check_failed"},
	{name: "turns used up", args: []string{"-p", "hi", "--max-turns", "1"}, replies: []et.Reply{et.Says("", et.Call("1", "list_directory", "dir_path", "."))}, code: 53, reason: "max_turns"},
	{name: "nobody to ask", args: []string{"-p", "hi", "--fail-on-ask"}, replies: []et.Reply{et.Says("", et.Call("1", "run_shell_command", "command", "rm x"))}, code: 60, reason: "approval_needed"},
	{name: "a rule", args: []string{"-p", "hi", "--fail-on-deny", "--approval-mode", "plan"}, replies: []et.Reply{et.Says("", et.Call("1", "run_shell_command", "command", "rm x"))}, code: 61, reason: "denied"},
	{name: "tokens used up", args: []string{"-p", "hi", "--max-tokens", "5"}, replies: []et.Reply{et.Says("", et.Call("1", "list_directory", "dir_path", ".")).With(4, 4)}, code: 62, reason: "max_tokens"},
	{name: "time is up", args: []string{"-p", "hi", "--timeout", "0.3"}, replies: []et.Reply{et.Silent()}, code: 63, reason: "timeout"},
	{name: "calls used up", args: []string{"-p", "hi", "--max-tool-calls", "1"}, code: 64, reason: "max_tool_calls",
		replies: []et.Reply{et.Says("", et.Call("1", "list_directory", "dir_path", "."), et.Call("2", "list_directory", "dir_path", "."))}},
	{name: "no such block", args: []string{"-p", "hi", "-x"}, replies: []et.Reply{et.Says("no code")}, code: 65, reason: "no_code_block"},
	{name: "no answer that fits", args: []string{"-p", "hi", "--max-repairs", "0", "--json-schema", `{"type":"object"}`}, replies: []et.Reply{et.Says("[1]")}, code: 65, reason: "schema_mismatch"},
	{name: "a full disk", args: []string{"-y", "-p", "hi"}, inside: small, code: 54, reason: "tool",
		replies: []et.Reply{et.Says("", et.Call("1", "write_file", "file_path", "big", "content", strings.Repeat("x", 128<<10))), et.Says("Well.")}},
	{name: "a sandbox that can't be had", args: []string{"--sandbox=lxc", "-p", "hi"}, code: 44, reason: "sandbox"},
	{name: "a schema that is none", args: []string{"-p", "hi", "--json-schema", `{"type":7}`}, code: 2, reason: "usage"},
	{name: "a file that can't be written", args: []string{"-p", "hi", "-O", "none/out"}, code: 42, reason: "input"},
	{name: "a rehearsal", args: []string{"-p", "hi", "--dry-run"}, replies: []et.Reply{
		et.Says("", et.Call("1", "write_file", "file_path", "a", "content", "b\n"), et.Call("2", "run_shell_command", "command", "rm a")), et.Says("Done.")}, reason: "completed"},
	{name: "a value that fits", args: []string{"-p", "hi", "--json-schema", `{"type":"object"}`}, replies: []et.Reply{et.Says("{}")}, reason: "completed", stderr: "^$"},
	{name: "a block of code", args: []string{"-p", "hi", "-x"}, replies: []et.Reply{et.Says("```go\nx\n```\n")}, reason: "completed", stderr: "^$"},

	{name: "a panic before the session", args: []string{"-p", "hi"}, env: fault("fall after 0"), code: 70, reason: "internal", stderr: panicked},
	{name: "a panic at the prompt", args: []string{"-p", "hi"}, env: fault("fall after 1"), replies: []et.Reply{et.Says("Hello.")}, code: 70, reason: "internal", stderr: panicked},
	{name: "a panic after the answer", args: []string{"-p", "hi"}, env: fault("fall after 3"), replies: []et.Reply{et.Says("Hello.")}, code: 70, reason: "internal", stderr: panicked},
	{name: "a panic in a tool", args: []string{"-y", "-p", "hi"}, env: fault("fall after 4"),
		replies: []et.Reply{et.Says("", et.Call("1", "run_shell_command", "command", "seq 100000"))}, code: 70, reason: "internal", stderr: panicked},
	{name: "a run that hangs", args: []string{"-p", "hi"}, env: fault("hang after 3"), replies: []et.Reply{et.Says("Hello.")},
		during: func(p *process) { <-p.server.Arrived(); p.signal(syscall.SIGTERM) }, code: 143, reason: "sigterm"},
	{name: "SIGINT while standard input is read", args: []string{"-p", "hi"}, piped: true, during: stopped(syscall.SIGINT), code: 130, reason: "sigint"},
	{name: "SIGTERM while standard input is read", args: []string{"-p", "hi"}, piped: true, during: stopped(syscall.SIGTERM), code: 143, reason: "sigterm"},
	{name: "SIGHUP while standard input is read", args: []string{"-p", "hi"}, piped: true, during: stopped(syscall.SIGHUP), code: 129, reason: "sighup"},
	{name: "SIGQUIT while standard input is read", args: []string{"-p", "hi"}, piped: true, during: stopped(syscall.SIGQUIT), code: 131, reason: "sigquit"},
}

const panicked = `^error: a bug in gemline: (run_shell_command: )?oh no\nhint: [^\n]*\n$`

func fault(text string) []string { return []string{"GEMLINE_TEST_FAULT=" + text} }

// A process is a run of the program that something happens to.
type process struct {
	server *et.Server
	signal func(syscall.Signal)
	errs   *watched
}

// stopped sends a signal to a run that says that it waits for input.
func stopped(sig syscall.Signal) func(*process) {
	return func(p *process) {
		p.errs.wait("waiting for standard input")
		p.signal(sig)
	}
}

// However a run ends, there is one record of it, the last thing that is said
// on standard output; the exit code is the one in it, and a person is told in
// a few lines.
func TestEveryEndHasItsRecord(t *testing.T) {
	t.Parallel()
	reader := schematest.NewReader(t)
	for i, e := range endings {
		for j, format := range []string{"json", "stream-json"} {
			if (i+j)%2 == 1 && os.Getenv("SOAK") == "" {
				continue // one ending has the one format, the next the other
			}
			t.Run(e.name+"/"+format, func(t *testing.T) {
				t.Parallel()
				out, errs, code := e.run(t, append([]string{"-o", format}, e.args...))
				end, err := reader.Read(format, out)
				if err != nil {
					t.Fatalf("%v\n%s\n%s", err, out, errs)
				}
				if code != e.code || end.ExitCode != e.code || end.Reason != e.reason || (end.Error != nil) != (code != 0) {
					t.Errorf("exit code %d, want %d; record %+v", code, e.code, end)
				}
				if n := strings.Count("\n"+errs, "\nerror: "); n != min(1, e.code) {
					t.Errorf("%d errors on standard error: %s", n, errs)
				}
				if e.stderr != "" && !regexp.MustCompile(e.stderr).MatchString(errs) {
					t.Errorf("standard error does not match %s:\n%s", e.stderr, errs)
				}
			})
		}
	}
}

// run carries out the program in a directory of its own.
func (e *ending) run(t *testing.T, args []string) (out, errs string, code int) {
	t.Helper()
	dir := t.TempDir()
	pt.Write(t, dir, e.files)
	s := et.NewServer(slices.Repeat(e.replies, 8)...) // of other models, too
	t.Cleanup(s.Close)
	var stdout bytes.Buffer
	stderr := newWatched()
	cmd := pt.Headless(t, s, dir, &stdout, stderr, args...)
	cmd.Env = append(cmd.Env, e.env...)
	if e.env != nil {
		cmd.Path = pt.Faulty(t)
	}
	if e.inside != nil {
		pt.Enter(t, cmd, e.inside)
	}
	if e.during == nil {
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if e.piped {
		cmd.Stdin = r
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	e.during(&process{server: s, signal: func(sig syscall.Signal) { cmd.Process.Signal(sig) }, errs: stderr})
	cmd.Wait()
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// A panic, be it on the goroutine of a tool, loses nothing that was said: the
// session can be gone on with.
func TestPanicLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(et.Says("Let me count.", et.Call("1", "run_shell_command", "command", "seq 100000")), et.Says("on we go"))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	pt.Write(t, dir, map[string]string{"home/.gemini/settings.json": `{"general": {"checkpointing": {"enabled": false}}}`}) // whose files count, too
	run := pt.Headless(t, s, dir, &out, &errs, "-y", "-d", "-p", "go", "--json")
	run.Path = pt.Faulty(t)
	run.Env = append(run.Env, fault("fall after 4")...) // of the session two, question, answer
	run.Run()
	if code := run.ProcessState.ExitCode(); code != 70 || !strings.Contains(errs.String(), "outputs.Limits.Store") {
		t.Errorf("exit code %d:\n%s", code, errs.Bytes())
	}
	if !regexp.MustCompile(`(?m)^hint: go on with gemline (--resume|-r) [0-9a-f-]+; please report this`).Match(errs.Bytes()) {
		t.Errorf("how to go on with the session is not said:\n%s", errs.Bytes())
	}
	pt.CheckResume(t, s, dir)
	requests := s.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "Let me count.") || !strings.Contains(body, `"go"`) {
		t.Errorf("what was said is lost: %s", body)
	}
}

// small is a place of 64 KiB to work in.
var small = []string{"unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=64k none . && cd "$PWD" && exec "$@"`, "sh"}

// A watched is what a program writes, which can be waited for.
type watched struct {
	mu    sync.Mutex
	b     bytes.Buffer
	wrote sync.Cond
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.wrote.Broadcast()
	return w.b.Write(b)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// wait returns once text was written.
func (w *watched) wait(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !bytes.Contains(w.b.Bytes(), []byte(text)) {
		w.wrote.Wait()
	}
}

func newWatched() *watched {
	w := &watched{}
	w.wrote.L = &w.mu
	return w
}
