//go:build linux

package safety

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// first makes run the first process of a container of its own, or skips.
func first(t *testing.T, run *exec.Cmd) *exec.Cmd {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil || exec.Command(unshare, "-fp", "--mount-proc", "true").Run() != nil {
		t.Skip("no namespaces here")
	}
	run.Args = append([]string{unshare, "-fp", "--mount-proc", "--kill-child"}, append([]string{run.Path}, run.Args[1:]...)...)
	run.Path = unshare
	return run
}

// As the first process of a container, gemline buries the dead and answers as
// ever.
func TestFirstProcess(t *testing.T) {
	t.Parallel()
	// An orphan whose parent is gone ends, and then nothing may be left of it.
	const orphan = `(sh -c 'echo $$ >orphan; exec true' &); until [ -s orphan ]; do sleep 0.1; done
		while [ -e /proc/$(cat orphan) ]; do sleep 0.1; done; echo the parent is $PPID.`
	s := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", orphan)), et.Says("Buried."))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	run := first(t, pt.Headless(t, s, t.TempDir(), &out, &errs, "--sandbox=off", "-y", "-p", "go", "-o", "stream-json"))
	if err := run.Run(); err != nil || errs.Len() > 0 || !strings.Contains(out.String(), "Buried.") {
		t.Fatalf("%v: %s\n%s", err, errs.Bytes(), out.Bytes())
	}
	if got := pt.AnswerOf(t, s, "run_shell_command"); !strings.Contains(got, "the parent is ") || strings.Contains(got, "parent is 1.") {
		t.Errorf("the command was told %s", got)
	}
}

// It passes signals on, and its exit code is that of the run.
func TestFirstProcessSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		reached := make(chan pt.Ended, 10)
		s := et.NewServer(pt.Telling(reached, et.Silent()))
		t.Cleanup(s.Close)
		dir := t.TempDir()
		var out bytes.Buffer
		run := first(t, pt.Headless(t, s, dir, &out, io.Discard, "-p", "go", "-o", "json"))
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		<-reached
		// The first process of the container is the only child of unshare.
		kids, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(run.Process.Pid), "task", strconv.Itoa(run.Process.Pid), "children"))
		if err != nil {
			t.Skip(err)
		}
		exec.Command("kill", "-s", strings.TrimPrefix(pt.SignalName(sig), "SIG"), strings.TrimSpace(string(kids))).Run()
		run.Wait()
		if code := run.ProcessState.ExitCode(); code != 128+int(sig) {
			t.Errorf("%s: code %d", sig, code)
		}
		pt.CheckEnd(t, "json", out.Bytes(), strings.ToLower(pt.SignalName(sig)))
	}
}

// At a terminal, as in docker run -it, a session works: what is typed and
// Ctrl-C reach it, once.
func TestFirstProcessAtATerminal(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello."), et.Stalled(et.Streams("For ever. ")), et.Says("Still here."))
	c := pt.Terminal(t, s)
	run := first(t, exec.Command(c.Path, c.Args...))
	c.Path, c.Args = run.Path, run.Args[1:]
	term := teletype.Start(t, c)
	term.Expect("> ")
	term.Line("hi")
	term.Expect("Hello.")
	term.Expect("> ")
	term.Line("tell me")
	term.Expect("For ever.")
	term.Send("\x03")
	term.Expect("cancelled")
	term.Expect("> ")
	term.Line("there?")
	term.Expect("Still here.")
	term.Expect("> ")
	term.Line("/quit")
	if code := term.Exit(); code != 0 {
		t.Errorf("code %d", code)
	}
}
