//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// phases are what a run may be doing when a signal comes. Each tells when the
// run is that far.
var phases = map[string]func(reached chan<- string, project string) et.Reply{
	"waiting for the first byte": func(reached chan<- string, _ string) et.Reply {
		return telling(reached, et.Silent())
	},
	"in the middle of the answer": func(reached chan<- string, _ string) et.Reply {
		return telling(reached, et.Stalled(et.Says("half an answer ")))
	},
	"about to ask again": func(reached chan<- string, _ string) et.Reply {
		r := et.RateLimited(time.Minute)
		r.Ended = func() { reached <- "" }
		return r
	},
	"in a command": func(reached chan<- string, project string) et.Reply {
		pipe := filepath.Join(project, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			panic(err)
		}
		go func() {
			pids, _ := os.ReadFile(pipe) // waits for the command
			reached <- string(pids)
		}()
		return et.Says("", et.Call("1", "run_shell_command", "command", "sleep 1000 & (echo $! $$) >pipe; wait"))
	},
}

func telling(reached chan<- string, r et.Reply) et.Reply {
	r.Inspect = func(context.Context, *engine.Request) { reached <- "" }
	return r
}

// A signal ends a run with its record, whatever is going on; nothing that was
// started goes on, and the session can be gone on with.
func TestSignals(t *testing.T) {
	t.Parallel()
	for phase, prepare := range phases {
		for i, format := range []string{"text", "json", "stream-json"} {
			sig := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[i]
			t.Run(phase+"/"+format, func(t *testing.T) {
				t.Parallel()
				dir, reached := t.TempDir(), make(chan string, 10)
				s := et.NewServer(prepare(reached, dir), et.Says("on we go"))
				t.Cleanup(s.Close)
				var out, errs bytes.Buffer
				run := headless(t, s, dir, &out, &errs, "-y", "-p", "go", "-o", format)
				if err := run.Start(); err != nil {
					t.Fatal(err)
				}
				pids := <-reached
				run.Process.Signal(sig)
				err := run.Wait()
				if code := run.ProcessState.ExitCode(); code != 128+int(sig) {
					t.Errorf("exit code %d, %v", code, err)
				}
				if got := errs.String(); !strings.HasSuffix(got, "error: stopped by "+signalName(sig)+"\n") {
					t.Errorf("stderr: %q", got)
				}
				checkEnd(t, format, out.Bytes(), strings.ToLower(signalName(sig)))
				for _, pid := range goingOn(dir, pids) {
					t.Errorf("process %s goes on", pid)
				}
				checkResume(t, s, dir)
			})
		}
	}
}

// headless returns the command that runs this very program without a terminal.
func headless(t *testing.T, s *et.Server, dir string, out, errs io.Writer, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-m", "gemini-2.5-flash"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, errs
	cmd.Env = []string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"),
		"GEMINI_API_KEY=key-of-the-test", "GOOGLE_GEMINI_BASE_URL=" + s.URL}
	return cmd
}

// checkEnd checks that the output ends with one record of the end.
func checkEnd(t *testing.T, format string, out []byte, reason string) {
	t.Helper()
	type record struct {
		Type   string
		Reason string `json:"termination_reason"`
	}
	switch format {
	case "text":
		if bytes.HasPrefix(out, []byte("{")) {
			t.Errorf("stdout: %q", out)
		}
	case "json":
		var r record
		if err := json.Unmarshal(out, &r); err != nil || r.Reason != reason {
			t.Errorf("%v: %s", err, out)
		}
	case "stream-json":
		var last record
		ends := 0
		for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
			if err := json.Unmarshal(in.Bytes(), &last); err != nil {
				t.Errorf("%v: %s", err, in.Bytes())
			}
			if last.Type == "result" {
				ends++
			}
		}
		if ends != 1 || last.Type != "result" || last.Reason != reason {
			t.Errorf("%d ends: %s", ends, out)
		}
	}
}

// checkResume goes on with the session and checks what the model is sent.
func checkResume(t *testing.T, s *et.Server, dir string) {
	t.Helper()
	var errs bytes.Buffer
	again := headless(t, s, dir, io.Discard, &errs, "-p", "more", "--resume", "latest")
	if err := again.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("resume: %v: %s", err, errs.Bytes())
	}
	requests := s.Requests()
	history := requests[len(requests)-1].Contents()
	et.Answered(t, history)
	if last := history[len(history)-1]; last.Parts[len(last.Parts)-1].Text != "more" {
		t.Errorf("the last message is %v", last)
	}
}

// zombie reports whether a process is over and only waits to be noticed, as an
// orphan may where process 1 is slow.
func zombie(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

// goingOn returns those of the processes that a command has told of that do not
// end. They have been killed, and a busy machine may need a moment for the rest.
func goingOn(dir, pids string, but ...int) (left []string) {
	for range 600 {
		if left = workingIn(dir, pids, but...); len(left) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return left
}

// workingIn returns those of some processes that are not over. A confined
// command knows itself by a number of its own: where the system tells, what
// counts is that nothing works in dir any more but those numbers.
func workingIn(dir, pids string, but ...int) (left []string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil && runtime.GOOS == "linux" {
		places, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, place := range places {
			pid := strings.Split(place, "/")[2]
			if at, err := os.Readlink(place); err == nil && at == real && !slices.ContainsFunc(but, func(n int) bool { return strconv.Itoa(n) == pid }) {
				who, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				left = append(left, pid+" ("+string(bytes.ReplaceAll(bytes.TrimRight(who, "\x00"), []byte{0}, []byte(" ")))+")")
			}
		}
		return left
	}
	for _, pid := range strings.Fields(pids) {
		if n, _ := strconv.Atoi(pid); !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) && !zombie(pid) {
			left = append(left, pid)
		}
	}
	return left
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
			run := headless(t, s, dir, io.Discard, io.Discard, "-y", "-p", "go")
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
	run := headless(t, s, t.TempDir(), &out, &errs, "-p", "go")
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
