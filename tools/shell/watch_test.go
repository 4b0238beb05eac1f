//go:build unix

package shell

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// lives starts a command in a group of its own and returns the group, and what
// can be read to its end when nothing of the command is left.
func lives(t *testing.T) (group int, end io.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	cmd.Stdout = w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	return cmd.Process.Pid, r
}

// What is watched ends when the pipe is closed, as it is when this process is
// no more; what was dropped goes on.
func TestWatch(t *testing.T) {
	var w watch
	w.ready()
	w.ready()
	one, _ := lives(t)
	two, end := lives(t)
	three, _ := lives(t)
	for _, group := range []int{one, two, three} {
		w.add(group, "")
	}
	w.drop(three)
	w.drop(one)
	w.drop(one)
	w.pipe.Close()
	io.Copy(io.Discard, end)
	w.cmd.Wait() // it is done
	w.pipe = nil
	for _, group := range []int{one, three} {
		if pid, err := syscall.Wait4(group, nil, syscall.WNOHANG, nil); pid != 0 || err != nil {
			t.Errorf("what was dropped has ended: %d, %v", pid, err)
		}
	}
}

// A watch that is closed ends nothing, and is there no more.
func TestWatchClosed(t *testing.T) {
	var w watch
	w.ready()
	group, _ := lives(t)
	w.add(group, "")
	w.close()
	w.close()
	w.ready()
	w.add(group, "")
	if pid, err := syscall.Wait4(group, nil, syscall.WNOHANG, nil); pid != 0 || err != nil {
		t.Errorf("it has ended: %d, %v", pid, err)
	}
	if w.pipe != nil {
		t.Error("it was started again")
	}
}

// One that does not answer holds nobody up.
func TestWatchStopped(t *testing.T) {
	var w watch
	w.ready()
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.add(1<<30, "")
	w.close()
}
