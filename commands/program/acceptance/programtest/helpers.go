package programtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
	"gemline/tools/sandbox"
)

// Model is what tests of the program ask that don't name another. The day is before its
// last one: see testprogram.
const Model = "gemini-2.5-flash"

// Terminal returns the command that runs this very program at a terminal, in a
// fresh project with a few files, against a server.
func Terminal(t *testing.T, s *et.Server, args ...string) teletype.Command {
	t.Helper()
	t.Cleanup(s.Close)
	dir := t.TempDir()
	project, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	Write(t, home, nil)
	Write(t, project, map[string]string{"greeting.txt": "Hello, wrld.\n", "notes.txt": "Remember the milk.\n"})
	return teletype.Command{Path: Self(t), Args: append([]string{"-m", Model}, args...), Dir: project,
		Env: Environment(home, s, "GEMINI_CLI_TRUST_WORKSPACE=true")}
}

// Self returns the path of the program: as it was built for users, if make test has done
// that, or this very test, which starts more slowly.
func Self(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("GEMLINE_BUILT"); path != "" {
		return path
	}
	return Faulty(t)
}

// Faulty returns the path of this very test, which can be the program with a fault.
func Faulty(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Environment is what the program runs in: a home directory, a server if there
// is one, and more.
func Environment(home string, s *et.Server, more ...string) []string {
	env := []string{AsProgram + "=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "HOME=" + home,
		"GEMINI_FORCE_FILE_STORAGE=true", "CI=", "GITHUB_ACTIONS="}
	if s != nil {
		env = append(env, "GEMINI_API_KEY=key-of-the-test", "GOOGLE_GEMINI_BASE_URL="+s.URL)
	}
	return append(env, more...)
}

// HomeOf returns the home directory of a command.
func HomeOf(c teletype.Command) string {
	for _, e := range c.Env {
		if home, ok := strings.CutPrefix(e, "HOME="); ok {
			return home
		}
	}
	return ""
}

// Configured writes the user's settings and returns the command with them.
func Configured(t *testing.T, c teletype.Command, text string) teletype.Command {
	t.Helper()
	Write(t, HomeOf(c), map[string]string{".gemini/settings.json": text})
	return c
}

// Unknown returns the program at a terminal, in a folder that nobody has
// decided about and that holds some files, and where the user's files are.
func Unknown(t *testing.T, s *et.Server, files map[string]string) (c teletype.Command, home string) {
	t.Helper()
	c = Terminal(t, s)
	c.Args, c.Term = nil, "dumb"
	c.Env = append(c.Env, "GEMINI_CLI_TRUST_WORKSPACE=")
	Write(t, c.Dir, files)
	Configured(t, c, `{"model": {"name": "`+Model+`"}}`)
	return c, filepath.Join(HomeOf(c), ".gemini")
}

// Write writes files below dir, which it makes.
func Write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Need returns where a program is, or skips the test, unless everything must
// be tested.
func Need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil { // where servers are is not always on the path
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil {
		Lack(t, err)
	}
	return path
}

// Lack skips the test for want of something, unless everything must be tested.
func Lack(t *testing.T, why error) {
	t.Helper()
	if os.Getenv("GEMLINE_TEST_ALL") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Confining skips a test where this kernel does not hold commands.
func Confining(t *testing.T, c teletype.Command) {
	t.Helper()
	cmd := exec.Command(c.Path, "sandbox", "status", "--json")
	cmd.Env, cmd.Dir = c.Env, c.Dir
	out, err := cmd.Output()
	var doc struct {
		Sandbox struct{ Files, Network bool }
	}
	if err != nil || json.Unmarshal(out, &doc) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !doc.Sandbox.Files || !doc.Sandbox.Network {
		t.Skipf("nothing confines commands here: %s", out)
	}
}

// Confined reports whether the kernel lets commands be confined here.
var Confined = sync.OnceValue(func() bool {
	k := sandbox.New(sandbox.Options{})
	defer k.Close()
	return k.State().Confined()
})

// Headless returns the command that runs this very program without a terminal.
func Headless(t *testing.T, s *et.Server, dir string, out, errs io.Writer, args ...string) *exec.Cmd {
	cmd := exec.Command(Self(t), append([]string{"-m", Model}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, errs
	cmd.Env = Environment(filepath.Join(dir, "home"), s)
	return cmd
}

// Printed runs the program without a terminal and returns its standard output.
// The run must succeed.
func Printed(t *testing.T, c teletype.Command, args ...string) string {
	t.Helper()
	cmd := exec.Command(c.Path, append(c.Args[:len(c.Args):len(c.Args)], args...)...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// Work is a conversation that edits, is refused once, and runs a command twice.
func Work() []et.Reply {
	return []et.Reply{
		et.Says("I mend the greeting.", et.Call("1", "replace", "file_path", "greeting.txt", "instruction", "spell it right", "old_string", "wrld", "new_string", "world")),
		et.Says("Now I clean up.", et.Call("2", "run_shell_command", "command", "rm notes.txt")),
		et.Says("Then I count.", et.Call("3", "run_shell_command", "command", "echo count-$((6*7))")),
		et.Says("Once more.", et.Call("4", "run_shell_command", "command", "echo count-$((6*7))")),
		et.Says("All done."),
		et.Stalled(et.Streams("This takes ", "for ever. ")),
		et.Says("The note says: remember the milk."),
	}
}

const Asking = "y n " // a line of choices begins so

const AskingAloud = "y, n, " // and so in screen reader mode

// Prompting is the prompt, in both modes.
const Prompting = `\n(\x1b\[\?2004h|\x1b\]133;[^\a\x1b]*\x1b\\)*> `

// Converse is what a user does with work, whatever the terminal.
func Converse(line func(string), key func(string), expect func(string) string) {
	expect("> ")
	line("mend it")
	expect("permission:")
	expect("+Hello, world.")
	expect(Asking)
	line("y")
	expect("rm notes.txt")
	expect(Asking)
	line("n because I still need them")
	expect("count-$((6*7))")
	expect(Asking)
	line("a")
	expect("All done.")
	expect("done:")
	expect("> ")
	line("tell me a story")
	expect("This takes for ever.")
	key("\x03")
	expect("cancelled")
	expect("> ")
	line("what does @notes.txt say?")
	expect("The note says: remember the milk.")
	expect("done:")
	expect("> ")
	line("!ls")
	expect("notes.txt")
	expect("> ")
	line("/stats")
	expect("Model " + Model + ": 7 requests")
	expect("> ")
	line("/quit")
}

// Enter has run run by a command, or skips.
func Enter(t *testing.T, run *exec.Cmd, by []string) {
	t.Helper()
	try := exec.Command(by[0], append(slices.Clone(by[1:]), "true")...)
	try.Dir = run.Dir
	if err := try.Run(); err != nil {
		t.Skipf("%s: %v", by[0], err)
	}
	run.Args = slices.Concat(by, []string{run.Path}, run.Args[1:])
	run.Path = try.Path
}

// Tracing returns what stands in front of a command line to have its calls of
// the system in a file. The test is skipped where that can't be had.
func Tracing(t *testing.T) func(file string) []string {
	t.Helper()
	path := Need(t, "strace")
	if out, err := exec.Command(path, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		Lack(t, fmt.Errorf("strace does not work here: %w: %s", err, out))
	}
	return func(file string) []string {
		return []string{path, "-f", "-qq", "-y", "-s", "4096", "-o", file, "-e", "trace=open,openat,openat2,connect,sendto,execve,execveat,getdents64"}
	}
}

// Grep returns the lines that git finds among the files of this directory, by
// no settings of whoever runs the tests.
func Grep(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", append([]string{"grep", "--no-index", "--exclude-standard"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // which says that there are none
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// SignalName returns the name that a record gives a signal.
func SignalName(s os.Signal) string {
	return map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGPIPE: "SIGPIPE", syscall.SIGQUIT: "SIGQUIT"}[s]
}

// Terminals are what a dialogue must work on.
var Terminals = []string{"dumb", "xterm-256color"}

// Runs returns an answer that runs a command.
func Runs(id, command string) et.Reply {
	return et.Says("", et.Call(id, "run_shell_command", "command", command))
}

// Streamed returns the requests of conversations, without what is asked beside them.
func Streamed(s *et.Server) (requests []et.Received) {
	for _, r := range s.Requests() {
		if strings.Contains(r.Path, ":streamGenerateContent") {
			requests = append(requests, r)
		}
	}
	return requests
}

// Traceback returns a text of n lines, which hold a command and a question's
// answer.
func Traceback(n int) string {
	lines := []string{"Traceback of the test:", "/quit", "!touch ran", "y"}
	for i := len(lines); i < n; i++ {
		lines = append(lines, fmt.Sprintf("  line %d of it", i))
	}
	return strings.Join(lines[:n], "\n")
}

// Documents returns the JSON values that a program has printed, one behind the other.
func Documents[T any](t *testing.T, out []byte) (all []T) {
	t.Helper()
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var one T
		if err := dec.Decode(&one); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all = append(all, one)
	}
}
