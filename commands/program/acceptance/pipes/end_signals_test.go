//go:build unix

package pipes

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A signal ends a run with its record, whatever is going on; nothing that was
// started goes on, and the session can be gone on with.
func TestSignals(t *testing.T) {
	t.Parallel()
	for phase, prepare := range pt.Phases {
		for i, format := range []string{"text", "json", "stream-json", "json"} {
			sig := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}[i]
			t.Run(phase+"/"+format, func(t *testing.T) {
				t.Parallel()
				dir, reached := t.TempDir(), make(chan pt.Ended, 10)
				s := et.NewServer(prepare(reached, dir), et.Says("on we go"))
				t.Cleanup(s.Close)
				var out, errs bytes.Buffer
				run := pt.Headless(t, s, dir, &out, &errs, "-y", "-p", "go", "-o", format)
				if err := run.Start(); err != nil {
					t.Fatal(err)
				}
				over := <-reached
				run.Process.Signal(sig)
				err := run.Wait()
				if code := run.ProcessState.ExitCode(); code != 128+int(sig) {
					t.Errorf("exit code %d, %v", code, err)
				}
				if got := errs.String(); !strings.HasSuffix(got, "error: stopped by "+pt.SignalName(sig)+"\n") {
					t.Errorf("stderr: %q", got)
				}
				pt.CheckEnd(t, format, out.Bytes(), strings.ToLower(pt.SignalName(sig)))
				pt.CheckEnded(t, over)
				pt.CheckResume(t, s, dir)
			})
		}
	}
}

// A program that is killed can't end what it started, so another does. The
// commands take a moment before they show themselves: that they were started
// has to be known by then.
func TestKilledInCommand(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"in a command":               "sleep 1; exec >pipe 2>&1; sleep 1000 & sleep 1001",
		"one that heeds no signal":   "sleep 1; exec >pipe 2>&1; trap '' TERM; while :; do sleep 1; done",
		"with one in the background": "(sleep 1; exec sleep 1000 >pipe 2>&1) & sleep 1; exec >pipe; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			s := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", command)))
			t.Cleanup(s.Close)
			run := pt.Headless(t, s, dir, io.Discard, io.Discard, "-y", "-p", "go")
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			held, err := os.Open(pipe) // waits for the command
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			run.Process.Kill()
			run.Wait()
			io.Copy(io.Discard, held) // ends when nobody holds the other end any more
		})
	}
}

// What is ignored from the start, as under nohup, ends nothing.
func TestIgnoredSignal(t *testing.T) {
	t.Parallel()
	process := make(chan *os.Process, 1)
	done := et.Says("Done.")
	done.Inspect = func(context.Context, *engine.Request) { (<-process).Signal(syscall.SIGHUP) }
	s := et.NewServer(done)
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, t.TempDir(), &out, &errs, "-p", "go")
	run.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh", run.Path}, run.Args[1:]...)
	run.Path = "/bin/sh"
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	process <- run.Process
	if err := run.Wait(); err != nil || out.String() != "Done.\n" || errs.Len() > 0 {
		t.Errorf("%v: %s%s", err, out.Bytes(), errs.Bytes())
	}
}
