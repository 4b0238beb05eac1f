package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// helper is the program that make build embeds.
var helper = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "helper-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "helper")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "./helper")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(file)
})

// ways are the ways to start a command, and the steps.
func ways(t *testing.T, f func(t *testing.T, k *Kernel)) {
	t.Run("helper", func(t *testing.T) {
		program, err := helper()
		if err != nil {
			t.Fatal(err)
		}
		k := kernel(t, Options{Helper: program})
		for _, l := range k.State().Layers {
			if l.Name == "embedded helper" && !l.On {
				t.Skip("no program runs from memory here")
			}
		}
		f(t, k)
	})
	t.Run("itself", func(t *testing.T) { f(t, kernel(t, Options{})) })
	t.Run("Landlock", func(t *testing.T) { f(t, kernel(t, Options{Without: []string{"namespaces"}})) })
}

// TestEnds has commands end in all ways there are.
func TestEnds(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		for _, c := range []struct {
			script string
			code   int
			signal syscall.Signal
		}{
			{"true", 0, 0}, {"exit 1", 1, 0}, {"exit 125", 125, 0}, {"exit 255", 255, 0},
			{"kill -TERM $$", 0, syscall.SIGTERM}, {"kill -KILL $$", 0, syscall.SIGKILL}, {"kill -SEGV $$", 0, syscall.SIGSEGV},
			{"kill -INT $$", 0, syscall.SIGINT}, {"kill -PIPE $$", 0, syscall.SIGPIPE}, {"kill -USR1 $$", 0, syscall.SIGUSR1},
		} {
			out, err := bash(t, k, Profile{Root: t.TempDir()}, c.script)
			var exit *exec.ExitError
			errors.As(err, &exit)
			var ws syscall.WaitStatus
			if exit != nil {
				ws = exit.Sys().(syscall.WaitStatus)
			}
			if c.signal != 0 && (!ws.Signaled() || ws.Signal() != c.signal) || c.signal == 0 && ws.ExitStatus() != c.code || out != "" {
				t.Errorf("%s: %v: %s", c.script, err, out)
			}
		}
	})
}

// TestDeaf sends the group of a command that ignores them all signals that end
// or stop a program: it goes on, and its end is told.
func TestDeaf(t *testing.T) {
	signals := []syscall.Signal{64} // the last one, which has no name
	for sig := syscall.Signal(1); sig < 32; sig++ {
		switch sig {
		case syscall.SIGKILL, syscall.SIGSTOP: // nobody can ignore them
		case syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV: // they tell of faults
		default:
			signals = append(signals, sig)
		}
	}
	ways(t, func(t *testing.T, k *Kernel) {
		cmd, out := start(t, k, `trap '' {1..3} 6 {12..17} {20..31} 10 64; echo ready; until test -e over; do :; done; exit 7`)
		readLine(t, out)
		for _, sig := range signals {
			if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
				t.Fatalf("at %v: %v", sig, err)
			}
		}
		if err := os.WriteFile(filepath.Join(cmd.Dir, "over"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
			t.Error(err)
		}
	})
}

// TestNobodyReads has a command end when there is something to say, and nobody
// to read it: it ends as it would have.
func TestNobodyReads(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		dir := t.TempDir()
		cmd := exec.Command("bash", "-c", "--", "git init -q sub && echo 'exit 0' >sub/.git/hooks/pre-commit; exit 3")
		cmd.Dir = dir
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ours.Close()
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = theirs, theirs, &syscall.SysProcAttr{Setsid: true}
		err = begin(k, cmd, Profile{Root: dir})
		theirs.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "sub", ".git")); err == nil {
			t.Error("there was nothing to say")
		}
	})
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// TestLeft has a command leave a process behind: the command is over, the
// process goes on, and dies when the group is killed, with all in it, in
// whatever session.
func TestLeft(t *testing.T) {
	for _, o := range []Options{{}, {Without: []string{"namespaces"}}} {
		t.Run(fmt.Sprint(o.Without), func(t *testing.T) {
			k := kernel(t, o)
			cmd, out := start(t, k, `sleep 1000 & setsid sh -c 'echo $$; exec sleep 1001' & echo started; exit 4`)
			for range 2 {
				if pid, err := strconv.Atoi(readLine(t, out)); err == nil && !has(k, "namespaces") { // else it is a number of its own
					t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
				}
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 4 {
				t.Error(err)
			}
			if err := syscall.Kill(-cmd.Process.Pid, 0); err != nil {
				t.Error("what it left is gone:", err)
			}
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			if !has(k, "namespaces") {
				return // what left the session is found by its other marks
			}
			if _, err := io.ReadAll(out); err != nil { // until nobody holds it any more
				t.Error(err)
			}
		})
	}
}

// TestAlone has a command leave processes behind that nobody would look after:
// they end with it, in whatever session, and before what it did is looked at.
func TestAlone(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		dir := t.TempDir()
		cmd := exec.Command("bash", "-c", "--", `sleep 60 & (setsid bash -c 'trap "" TERM; sleep 60 & sleep 60' &) ; echo started; exit 4`)
		cmd.Dir = dir
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = theirs, os.Stderr, &syscall.SysProcAttr{Setsid: true}
		err = begin(k, cmd, Profile{Root: dir, EndLeftovers: true})
		theirs.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err = cmd.Wait(); cmd.ProcessState.ExitCode() != 4 {
			t.Error(err)
		}
		ours.SetReadDeadline(time.Now().Add(30 * time.Second)) // who is left holds it for longer
		if out, err := io.ReadAll(ours); err != nil || string(out) != "started\n" {
			t.Errorf("%q, %v", out, err)
		}
		if names, _ := os.ReadDir(dir); len(names) > 0 {
			t.Error("left in the directory:", names)
		}
	})
}

// TestTidy has a command leave a temporary directory that is hard to remove,
// for anybody but root.
func TestTidy(t *testing.T) {
	k := kernel(t, Options{})
	if out, err := bash(t, k, Profile{Root: t.TempDir()},
		`cd "${TMPDIR:-/tmp}" && mkdir -p a/b/c && touch a/b/file && ln -s / a/link && chmod 0 a/b && chmod 500 a .`); err != nil {
		t.Fatal(err, out)
	}
	temp, err := k.temporary()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(temp); err == nil {
		t.Error("it is still there")
	}
}

// TestSilent has a process that was left behind let go of the output: nothing
// else holds it.
func TestSilent(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		cmd, out := start(t, k, `sleep 1000 > /dev/null 2>&1 & exit 0`)
		if _, err := io.ReadAll(out); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingLeft looks for processes when a command is over.
func TestNothingLeft(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		for range 20 {
			cmd, _ := start(t, k, `true | true`)
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if err := syscall.Kill(-cmd.Process.Pid, 0); err != syscall.ESRCH {
				t.Error("there is something in the group:", err)
			}
		}
	})
}

// TestStopped tells a command to end, which does as it likes, and kills it.
func TestStopped(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		cmd, out := start(t, k, `trap 'echo told; exit 9' TERM; echo ready; while :; do sleep 0.01; done`)
		readLine(t, out)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if got := readLine(t, out); got != "told" && !strings.Contains(got, "Terminated") {
			t.Error(got)
		}
		cmd.Wait()
		if cmd.ProcessState.ExitCode() != 9 {
			t.Error(cmd.ProcessState)
		}
		cmd, out = start(t, k, `trap '' TERM; echo ready; sleep 1000`)
		readLine(t, out)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		if _, err := io.ReadAll(out); err != nil {
			t.Error(err)
		}
	})
}

// TestKilled kills one of the stages while a command runs: nothing outlives it.
func TestKilled(t *testing.T) {
	k := spaces(t) // without, what left the session stays
	for _, which := range []string{"first", "second"} {
		cmd, out := start(t, k, `setsid sleep 1000 & echo ready; sleep 1000`)
		readLine(t, out)
		pid := cmd.Process.Pid
		if which == "second" {
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			if err != nil {
				t.Skip("this kernel lists no children: ", err)
			}
			for _, f := range childrenOf(t, cmd.Process.Pid, children) {
				pid = f
			}
		}
		syscall.Kill(pid, syscall.SIGKILL)
		if _, err := io.ReadAll(out); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("it is as if it had gone well")
		}
	}
}

// childrenOf returns the children of a process, whichever of its threads
// started them.
func childrenOf(t *testing.T, pid int, first []byte) []int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	all := string(first)
	for _, task := range tasks {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all += " " + string(b)
	}
	var pids []int
	for _, f := range strings.Fields(all) {
		n, _ := strconv.Atoi(f)
		pids = append(pids, n)
	}
	if len(pids) == 0 {
		t.Fatal("there is no second stage")
	}
	return pids
}

// TestTerminal gives a command a terminal to write to.
func TestTerminal(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		ours, theirs, err := pty.Open()
		if err != nil {
			t.Skip(err)
		}
		defer ours.Close()
		cmd := exec.Command("bash", "-c", `[ -t 1 ] && echo terminal; echo again > /dev/stdout; (: > /dev/tty) 2>/dev/null || echo "not mine"`)
		cmd.Dir = t.TempDir()
		cmd.Stdout, cmd.Stderr = theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = begin(k, cmd, Profile{Root: cmd.Dir})
		theirs.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		b, _ := io.ReadAll(ours) // ends with an error, as terminals do
		if got := strings.ReplaceAll(string(b), "\r", ""); got != "terminal\nagain\nnot mine\n" {
			t.Errorf("%q", got)
		}
	})
}

// TestFiles gives a command files beside its streams, and looks at which it
// has.
func TestFiles(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		w.WriteString("from file 3\n")
		w.Close()
		var out bytes.Buffer
		cmd := exec.Command("bash", "-c", `cat <&3; exec 3<&-; ls /proc/$$/fd; :`)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = t.TempDir(), &out, &out, []*os.File{r}
		release, err := k.Confine(cmd, Profile{Root: cmd.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		err = cmd.Run()
		got := strings.Fields(strings.TrimPrefix(out.String(), "from file 3\n"))
		for _, fd := range got {
			if n, _ := strconv.Atoi(fd); n > 2 && n != 255 { // which is bash's own
				t.Error("there is file", fd)
			}
		}
		if err != nil || !strings.HasPrefix(out.String(), "from file 3\n") || len(got) < 3 {
			t.Errorf("%v: %s", err, out.String())
		}
	})
}

// TestLoopback reaches a server from within its own command.
func TestLoopback(t *testing.T) {
	k := kernel(t, Options{})
	if !slices.Contains(k.layers, "network namespace") {
		t.Skipf("commands have no network of their own here: %+v", k.State())
	}
	const script = `exec 2>&1; coproc S { python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
c.send(b"hello\n")
c.close()'; }
read -r port <&"${S[0]}" && read -r line < /dev/tcp/127.0.0.1/$port && echo "$line"`
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	if out, err := bash(t, k, Profile{Root: t.TempDir()}, script); err != nil || out != "hello\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSessionTemp keeps temporary files from one command to the next, and
// removes them in the end.
func TestSessionTemp(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		root := t.TempDir()
		const where = `"${TMPDIR:-/tmp}"/note`
		if out, err := bash(t, k, Profile{Root: root}, "echo kept > "+where); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := bash(t, k, Profile{Root: root}, "cat "+where); err != nil || out != "kept\n" {
			t.Errorf("%v: %s", err, out)
		}
		temp := k.temp.path
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
			t.Error("it is still there:", err)
		}
	})
}

// TestConcealed confines commands of a process that others can't look into, as
// gemline is.
func TestConcealed(t *testing.T) {
	if os.Getenv(probeVariable) != "" {
		t.Skip("this is it")
	}
	spaces(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), probeVariable+"=concealed")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "confined\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// concealed is the program of TestConcealed.
func concealed() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	k := New(Options{})
	defer k.Close()
	if s := k.State(); !strings.HasPrefix(s.Step, "namespaces") {
		return fmt.Errorf("%+v", s)
	}
	root, err := os.MkdirTemp("", "concealed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	cmd := exec.Command("sh", "-c", "echo confined")
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stdout, os.Stderr
	release, err := k.Confine(cmd, Profile{Root: root})
	if err != nil {
		return err
	}
	defer release()
	return cmd.Run()
}
