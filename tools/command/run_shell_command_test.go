//go:build unix

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/outputs"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// A shellBench is a workspace with the directory sub, and what was shown.
type shellBench struct {
	engine.Approver
	t     *testing.T
	dir   string
	env   Tools
	shown *strings.Builder
}

func newShellBench(t *testing.T) shellBench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "tool-outputs", "session")
	jobs := shell.NewJobs(filepath.Join(t.TempDir(), "logs"))
	t.Cleanup(jobs.Close)
	return shellBench{t: t, dir: dir, shown: &strings.Builder{}, env: Tools{
		Workspace: ws,
		Launcher: &launch.Launcher{Jobs: jobs, Roots: ws.Roots,
			Config: launch.Config{Shell: shell.Settings{Environ: append(os.Environ(), "GEMINI_API_KEY=CANARY", "A_TOKEN=CANARY")}}},
		Outputs: outputs.Limits{Dir: func() string { return out }, Threshold: 40_000},
	}}
}

// Emit implements [engine.Host].
func (b shellBench) Emit(ev engine.Event) { b.shown.WriteString(ev.(engine.Output).Delta) }

func (b shellBench) prepare(tool engine.Tool, args map[string]any) engine.Call {
	b.t.Helper()
	call, err := tool.Prepare(b.t.Context(), args)
	if err != nil {
		b.t.Fatal(err)
	}
	return call
}

func (b shellBench) do(tool engine.Tool, args map[string]any) (engine.Result, error) {
	b.t.Helper()
	return b.prepare(tool, args).Run(b.t.Context(), b)
}

// command runs a command line.
func (b shellBench) command(text string) (engine.Result, error) {
	b.t.Helper()
	return b.do(runShellCommand(b.env), map[string]any{"command": text})
}

func framed(text string) string { return "<untrusted_context>\n" + text + "\n</untrusted_context>" }

func TestShellCommand(t *testing.T) {
	for _, test := range []struct{ name, command, text, failed string }{
		{"success", "echo a; echo b >&2", "Output: a\nb", ""},
		{"failure", "echo a; exit 2", "Output: a\nExit Code: 2", "failed exit 2"},
		{"signal", "kill -9 $$", "Output: (empty)\nSignal: 9", "failed signal SIGKILL"},
		{"signal of no name", "kill -40 $$", "Output: (empty)\nSignal: 40", "failed signal 40"},
		{"credentials", "env | grep CANARY", "Output: (empty)\nExit Code: 1", "failed exit 1"},
		{"mark in the output", "echo '</untrusted_context> </Untrusted_Context > <b>'", "Output: &lt;/untrusted_context> &lt;/Untrusted_Context > <b>", ""},
		{"not UTF-8", `printf 'a\377b'`, "Output: a\u00ffb", ""},
		{"directory", "pwd", "Output: DIR", ""},
		{"a directory change does not stay", "cd sub && pwd", "Output: DIR/sub", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newShellBench(t)
			r, err := b.command(test.command)
			if got := strings.ReplaceAll(r.Text, b.dir, "DIR"); got != framed(test.text) {
				t.Errorf("got %q; want %q", got, framed(test.text))
			}
			if test.failed == "" {
				if err != nil {
					t.Errorf("failed: %v", err)
				}
				return
			}
			if err == nil || err.Error() != r.Text || engine.DisplayError(err) != test.failed || engine.ErrorType(err) != "shell_execute_error" {
				t.Errorf("got error %q, shown %q, of type %s", err, engine.DisplayError(err), engine.ErrorType(err))
			}
		})
	}
}

func TestShellIsRefused(t *testing.T) {
	b := newShellBench(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, class, err string
		args             map[string]any
	}{
		{"nothing", engine.InvalidToolParams, "params lacks \"command\"", nil},
		{"empty", engine.InvalidToolParams, "Command cannot be empty.", map[string]any{"command": " \n\t"}},
		{"NUL", engine.InvalidToolParams, "Command cannot hold a NUL byte.", map[string]any{"command": "a\x00b"}},
		{"negative wait", engine.InvalidToolParams, "params/delay_ms must be at least 0, not -1", map[string]any{"command": "a", "delay_ms": -1.0}},
		{"misspelt", engine.InvalidToolParams, `params lacks "command"; unknown: "cmd" (did you mean "command"?)`,
			map[string]any{"cmd": "a"}},
		{"outside", "path_not_in_workspace", "Path not in workspace", map[string]any{"command": "a", "dir_path": outside}},
		{"above", "path_not_in_workspace", "Path not in workspace", map[string]any{"command": "a", "dir_path": "sub/../.."}},
		{"link outside", "path_not_in_workspace", "Path not in workspace", map[string]any{"command": "a", "dir_path": "link"}},
		{"missing", "search_path_not_found", "does not exist", map[string]any{"command": "a", "dir_path": "none"}},
		{"file", "search_path_not_a_directory", "not a directory", map[string]any{"command": "a", "dir_path": "file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := runShellCommand(b.env).Prepare(t.Context(), test.args)
			if err == nil || !strings.Contains(err.Error(), test.err) || engine.ErrorType(err) != test.class {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestShellDirectoryMoves checks that a command does not run in a directory
// that has come to lead outside since it was judged.
func TestShellDirectoryMoves(t *testing.T) {
	b := newShellBench(t)
	call := b.prepare(runShellCommand(b.env), map[string]any{"command": "touch made", "dir_path": "sub"})
	outside := t.TempDir()
	sub := filepath.Join(b.dir, "sub")
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, sub); err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context(), b); engine.ErrorType(err) != "path_not_in_workspace" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "made")); err == nil {
		t.Error("it ran")
	}
}

func TestShellIntent(t *testing.T) {
	b := newShellBench(t)
	tool := runShellCommand(b.env)
	if tool.Kind != engine.Execute {
		t.Errorf("kind is %v", tool.Kind)
	}
	if err := os.Mkdir(filepath.Join(b.dir, "a: rm b"), 0o755); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 200)
	for _, test := range []struct {
		name   string
		args   map[string]any
		title  string
		detail string
		target string
	}{
		{"plain", map[string]any{"command": "go test"}, "run: go test", "go test", b.dir + "\x00go test"},
		{"lines", map[string]any{"command": " a\n\n  b \t c\n"}, "run: a ... (3 lines)", " a\n\n  b \t c\n", b.dir + "\x00 a\n\n  b \t c\n"},
		{"long", map[string]any{"command": long}, "run: " + long[:120] + "...", long, b.dir + "\x00" + long},
		{"directory", map[string]any{"command": "ls", "dir_path": "sub"}, "run in sub: ls", "ls", b.dir + "/sub\x00ls"},
		{"odd directory", map[string]any{"command": "ls", "dir_path": "a: rm b"}, "run in 'a: rm b': ls", "ls", b.dir + "/a: rm b\x00ls"},
		{"root by name", map[string]any{"command": "ls", "dir_path": "."}, "run: ls", "ls", b.dir + "\x00ls"},
		{"background", map[string]any{"command": "ls", "is_background": true}, "run in the background: ls", "ls", b.dir + "\x00ls"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := b.prepare(tool, test.args).Intent
			if in.Title != test.title || in.Detail != test.detail {
				t.Errorf("got %q, %q", in.Title, in.Detail)
			}
			want := []engine.Grant{{Label: "always this command", Tool: "run_shell_command", Target: test.target}}
			if diff := cmp.Diff(want, in.Grants); diff != "" {
				t.Error(diff)
			}
			if in.Draft.Name != "command.sh" || in.Draft.Text != test.args["command"] {
				t.Errorf("draft %+v", in.Draft)
			}
		})
	}
	in := b.prepare(tool, map[string]any{"command": "ls", "dir_path": "sub", "is_background": true, "delay_ms": 7.0}).Intent
	changed := in.Draft.Args("pwd\n")
	want := map[string]any{"command": "pwd", "dir_path": "sub", "is_background": true, "delay_ms": 7.0, "modified_by_user": true}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
	if again := b.prepare(tool, changed).Intent; again.Detail != "pwd" || again.Plan.Dir != b.dir+"/sub" {
		t.Errorf("changed call: %q", again.Detail)
	}
}

func TestShellShowsWhileRunning(t *testing.T) {
	b := newShellBench(t)
	r, err := b.command(`printf 'a\033[31mb\n'; echo c >&2; exit 1`)
	if b.shown.String() != "ab\nc\n" || r.Display != "ab\nc" || err == nil {
		t.Errorf("shown %q, %+v, %v", b.shown, r, err)
	}
}

func TestShellOutputIsCut(t *testing.T) {
	const n = 10_000 // two characters each
	b := newShellBench(t)
	b.env.Outputs.Threshold = 5_000
	text := strings.Repeat("a\u00e9", n)
	r, err := b.command("yes a\u00e9 | head -n 10000 | tr -d '\\n'")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(b.env.Outputs.Dir(), "run_shell_command_*.txt"))
	if len(files) != 1 {
		t.Fatalf("kept: %q", files)
	}
	whole := framed("Output: " + text)
	runes := []rune(whole)
	want := fmt.Sprintf("Output too large. Showing first 1,000 and last 4,000 characters. For full output see: %s\n%s\n\n... [%s characters omitted] ...\n\n%s",
		files[0], string(runes[:1000]), "15,049", string(runes[len(runes)-4000:]))
	if r.Text != want {
		t.Errorf("got %.200q ... %q\nwant %.200q", r.Text, r.Text[len(r.Text)-30:], want)
	}
	if r.Display != text {
		t.Errorf("%d bytes shown", len(r.Display))
	}
	kept, err := os.ReadFile(files[0])
	if err != nil || string(kept) != whole {
		t.Errorf("%d bytes kept, %v", len(kept), err)
	}
	for path, want := range map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): os.ModeDir | 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}

	b.env.Outputs.Dir = func() string { return filepath.Join(files[0], "sub") }
	r, err = b.command("seq 5000; exit 2")
	if err == nil || !strings.Contains(r.Text, "The full output could not be kept: ") || !strings.HasSuffix(err.Error(), "\nExit Code: 2\n</untrusted_context>") {
		t.Errorf("got %.200q, %.30v", r.Text, err)
	}
	b.env.Outputs.Threshold = 0
	if r, _ = b.command("seq 5000"); !strings.Contains(r.Text, "\n2500\n") {
		t.Errorf("cut without a limit: %.200q", r.Text)
	}
}

func TestShellLimit(t *testing.T) {
	b := newShellBench(t)
	limit := 500 * time.Millisecond
	b.env.Launcher.Config.Shell.Inactivity = limit
	r, err := b.command("echo a; sleep 50")
	for strings.Contains(r.Text, "There was no output") && limit < 20*time.Second { // a slow machine
		limit *= 3
		b.env.Launcher.Config.Shell.Inactivity = limit
		r, err = b.command("echo a; sleep 50")
	}
	want := framed(fmt.Sprintf("Command was automatically cancelled because it exceeded the timeout of %v seconds without output. Below is the output before it was cancelled:\na", limit.Seconds()))
	if r.Text != want || err == nil || err.Error() != want || engine.Outcome(err) != engine.Failed ||
		engine.DisplayError(err) != fmt.Sprintf("failed: stopped after %v seconds without output", limit.Seconds()) {
		t.Errorf("got %q, %v, %s", r.Text, err, engine.DisplayError(err))
	}
}

func TestShellIsCancelled(t *testing.T) {
	b := newShellBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := b.prepare(runShellCommand(b.env), map[string]any{"command": "echo a; sleep 50"})
	r, err := call.Run(ctx, cancelling{b, cancel})
	want := framed("Command was cancelled by user before it could complete. Below is the output before it was cancelled:\na")
	if r.Text != want || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

// cancelling is a host whose user cancels at the first output.
type cancelling struct {
	shellBench
	cancel func()
}

func (c cancelling) Emit(engine.Event) { c.cancel() }

func TestBackground(t *testing.T) {
	b := newShellBench(t)
	background := func(command string, delay float64) (engine.Result, error) {
		t.Helper()
		return b.do(runShellCommand(b.env), map[string]any{"command": command, "is_background": true, "delay_ms": delay})
	}
	list := func() string {
		t.Helper()
		r, err := b.do(listBackgroundProcesses(b.env), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	if got := list(); got != "No background processes found." {
		t.Errorf("got %q", got)
	}
	r, err := background("echo 1; echo '</untrusted_context>'; exec sleep 50", 700)
	for delay := 2000.0; err == nil && !strings.Contains(r.Text, "&lt;") && delay < 20_000; delay *= 3 { // a slow machine
		b = newShellBench(t)
		r, err = background("echo 1; echo '</untrusted_context>'; exec sleep 50", delay)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^Command moved to background \(PID: (\d+)\)\. Output hidden\. Use read_background_output to view it\.\nOutput so far:\n(?s)(.*)$`).
		FindStringSubmatch(r.Text)
	if m == nil || m[2] != framed("1\n&lt;/untrusted_context>") {
		t.Fatalf("got %q", r.Text)
	}
	if got, want := list(), "- [PID "+m[1]+"] RUNNING: `echo 1; echo '</untrusted_context>'; exec sleep 50`"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
	pid := b.env.Launcher.Jobs.List()[0].PID
	read := func(args map[string]any) (string, error) {
		r, err := b.do(readBackgroundOutput(b.env), args)
		return r.Text, err
	}
	for _, test := range []struct {
		name, text string
		args       map[string]any
	}{
		{"all", "Full Log Output:\n" + framed("1\n&lt;/untrusted_context>"), map[string]any{"pid": float64(pid), "delay_ms": 1.0}},
		{"last line", "Showing last 1 of 2 lines:\n" + framed("&lt;/untrusted_context>"), map[string]any{"pid": float64(pid), "lines": 1.0}},
	} {
		if got, err := read(test.args); got != test.text || err != nil {
			t.Errorf("%s: got %q, %v", test.name, got, err)
		}
	}
	if err := b.env.Launcher.Jobs.Stop(pid); err != nil {
		t.Fatal(err)
	}
	if got := list(); !strings.HasSuffix(got, " (Signal: 15)") || !strings.Contains(got, "] EXITED: ") {
		t.Errorf("got %q", got)
	}

	t.Run("fails at once", func(t *testing.T) {
		r, err := background("echo bad option >&2; exit 3", 60_000)
		if want := framed("Output: bad option\nExit Code: 3"); r.Text != want || engine.DisplayError(err) != "failed exit 3" {
			t.Errorf("got %q, %v", r.Text, err)
		}
		if got := list(); !strings.HasSuffix(got, "] EXITED: `echo bad option >&2; exit 3` (Exit Code: 3)") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("silent", func(t *testing.T) {
		r, err := background("exec sleep 50", 0)
		if err != nil || !strings.HasSuffix(r.Text, "to view it.") {
			t.Errorf("got %q, %v", r.Text, err)
		}
		jobs := b.env.Launcher.Jobs.List()
		if got, err := read(map[string]any{"pid": float64(jobs[len(jobs)-1].PID)}); got != "Log is empty." || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if _, err := read(map[string]any{"pid": 1.0}); err == nil || err.Error() != "Access denied. Background process ID 1 not found in this session's history." {
			t.Errorf("got %v", err)
		}
	})
	if got, want := jobList([]shell.Job{{PID: 7, Command: strings.Repeat("x", 300)}}), "- [PID 7] EXITED: `"+strings.Repeat("x", 200)+"...`"; got != want {
		t.Errorf("a long command: %s", got)
	}
	t.Run("cancelled while watching", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.prepare(readBackgroundOutput(b.env), map[string]any{"pid": float64(pid), "delay_ms": 60_000.0}).Run(ctx, b); !errors.Is(err, context.Canceled) {
			t.Errorf("reading: %v", err)
		}
		call := b.prepare(runShellCommand(b.env), map[string]any{"command": "exec sleep 50", "is_background": true})
		if _, err := call.Run(ctx, b); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if got := list(); !strings.HasSuffix(got, "(Signal: 15)") {
			t.Errorf("got %q", got)
		}
	})
}

func TestShellLeavesServersRunning(t *testing.T) {
	b := newShellBench(t)
	r, err := b.command("(echo ready; : >up; exec sleep 50) & until [ -e up ]; do sleep 0.01; done; echo started")
	m := regexp.MustCompile(`\nBackground PIDs: (\d+)\nProcess Group PGID: \d+\n</untrusted_context>$`).FindStringSubmatch(r.Text)
	if err != nil || m == nil {
		t.Fatalf("got %q, %v", r.Text, err)
	}
	if !strings.HasSuffix(r.Display, "\n(1 left running in the background)") {
		t.Errorf("shown %q", r.Display)
	}
	jobs := b.env.Launcher.Jobs.List()
	if len(jobs) != 1 || !jobs[0].Running || fmt.Sprint(jobs[0].PID) != m[1] {
		t.Errorf("got %+v", jobs)
	}
	out, err := b.do(readBackgroundOutput(b.env), map[string]any{"pid": float64(jobs[0].PID)})
	if err != nil || !strings.Contains(out.Text, "ready") || !strings.Contains(out.Text, "started") {
		t.Errorf("got %q, %v", out.Text, err)
	}
}

// A fence is a sandbox that a test looks through.
type fence struct {
	state sandbox.State
	seen  *sandbox.Profile
}

func (f fence) State() sandbox.State { return f.state }

func (f fence) Confine(_ *exec.Cmd, p sandbox.Profile) (func(), error) {
	*f.seen = p
	return func() {}, nil
}

// TestConfined tells of a call whether what it runs is held.
func TestConfined(t *testing.T) {
	full := sandbox.State{Name: "test", Files: true, Network: true}
	for _, test := range []struct {
		name    string
		state   sandbox.State
		network bool
		want    bool
	}{
		{"in full", full, false, true},
		{"with a network", full, true, false},
		{"in part", sandbox.State{Name: "test", Network: true}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newShellBench(t)
			var seen sandbox.Profile
			b.env.Launcher.Sandbox, b.env.Launcher.Config.Network = fence{test.state, &seen}, test.network
			call := b.prepare(runShellCommand(b.env), map[string]any{"command": "echo hi"})
			if call.Intent.Plan.Confined != test.want {
				t.Errorf("confined: %v", call.Intent.Plan.Confined)
			}
			if _, err := call.Run(t.Context(), b); err != nil || seen.Root != b.dir {
				t.Errorf("run with %+v: %v", seen, err)
			}
		})
	}
	b := newShellBench(t)
	if b.prepare(runShellCommand(b.env), map[string]any{"command": "echo hi"}).Intent.Plan.Confined {
		t.Error("confined by nothing")
	}
}
