package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gemline/tools/sandbox/stage"
)

// waiting has a spare made and returns it, and the processes that it is.
func waiting(t *testing.T, k *Kernel) (s *spare, pids []int) {
	t.Helper()
	k.renew()
	s = k.spares.take()
	if s == nil {
		t.Fatal("there is no spare")
	}
	k.spares.mu.Lock()
	k.spares.ready = s
	k.spares.mu.Unlock()
	return s, stages(t, s.cmd.Process.Pid)
}

// stages waits until a first stage has its second one, and returns both.
func stages(t *testing.T, first int) []int {
	t.Helper()
	pids, err := pair(first)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

func pair(first int) ([]int, error) {
	for {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", first))
		if err != nil {
			return nil, err
		}
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", first)); strings.Contains(string(b), ") Z ") {
			return nil, errors.New("the first stage has ended")
		}
		for _, task := range tasks {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", first, task.Name()))
			if errors.Is(err, os.ErrNotExist) && len(tasks) == 1 {
				return nil, fmt.Errorf("this kernel lists no children: %w", errors.ErrUnsupported)
			}
			if pids := strings.Fields(string(b)); len(pids) > 0 {
				second, err := strconv.Atoi(pids[0])
				return []int{first, second}, err
			}
		}
	}
}

// died waits until a process is no more.
func died(t *testing.T, handle int) {
	t.Helper()
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// handles opens processes to wait for.
func handles(t *testing.T, pids []int) []int {
	t.Helper()
	var all []int
	for _, pid := range pids {
		h, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Skip("this kernel has no handles of processes: ", err)
		}
		t.Cleanup(func() { unix.Close(h) })
		all = append(all, h)
	}
	return all
}

// TestSpare hands commands to the stages that were made ready, one after the
// other, each in a directory and with an environment of its own. They have no file but their
// streams; the third that ls has is the directory.
func TestSpare(t *testing.T) {
	k := spaces(t)
	root := t.TempDir()
	for i := range 3 {
		s, _ := waiting(t, k)
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-c", "--", `pwd -P; echo "$N"; ls /proc/self/fd; exit $N`)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), fmt.Sprint("N=", i))
		out, _ := output(t, k, cmd, Profile{Root: root})
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%s\n%d\n0\n1\n2\n3\n", real, i); out != want || cmd.ProcessState.ExitCode() != i {
			t.Errorf("%q, %v; not %q", out, cmd.ProcessState, want)
		}
		if cmd.Process.Pid != s.cmd.Process.Pid {
			t.Error("it was not handed to what was ready")
		}
	}
}

// TestNoSpare has commands that can't be handed to what is ready, or have
// nobody to be handed to: they run all the same.
func TestNoSpare(t *testing.T) {
	k := spaces(t)
	root := t.TempDir()
	pipe := func(t *testing.T) (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, cmd *exec.Cmd, p *Profile)
	}{
		{"the network", func(_ *testing.T, _ *exec.Cmd, p *Profile) { p.Network = true }},
		{"standard input", func(t *testing.T, cmd *exec.Cmd, _ *Profile) { cmd.Stdin = strings.NewReader("") }},
		{"another file", func(t *testing.T, cmd *exec.Cmd, _ *Profile) { r, _ := pipe(t); cmd.ExtraFiles = []*os.File{r} }},
		{"a group, not a session", func(_ *testing.T, cmd *exec.Cmd, _ *Profile) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }},
		{"the first stage is killed", func(t *testing.T, _ *exec.Cmd, _ *Profile) {
			_, pids := waiting(t, k)
			h := handles(t, pids)
			syscall.Kill(pids[0], syscall.SIGKILL)
			died(t, h[0])
			died(t, h[1])
		}},
		{"the second stage is killed", func(t *testing.T, _ *exec.Cmd, _ *Profile) {
			_, pids := waiting(t, k)
			h := handles(t, pids)
			syscall.Kill(pids[1], syscall.SIGKILL)
			died(t, h[0])
			died(t, h[1])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := waiting(t, k)
			r, w := pipe(t)
			cmd := exec.Command("bash", "-c", "echo ran; exit 4")
			cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = root, w, w, &syscall.SysProcAttr{Setsid: true}
			p := Profile{Root: root}
			c.change(t, cmd, &p)
			ended, err := k.Start(cmd, p)
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			out, _ := io.ReadAll(r)
			if err := finish(t, k, cmd, ended); cmd.ProcessState.ExitCode() != 4 || string(out) != "ran\n" {
				t.Errorf("%v: %s", err, out)
			}
			if cmd.Process.Pid == s.cmd.Process.Pid {
				t.Error("it was handed to what was ready")
			}
		})
	}
}

// TestSpareEnds closes a Kernel, or kills its process: what waits for a command
// ends, too.
func TestSpareEnds(t *testing.T) {
	t.Run("closed", func(t *testing.T) {
		k := spaces(t)
		_, pids := waiting(t, k)
		h := handles(t, pids)
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if err := syscall.Kill(pids[0], 0); err != syscall.ESRCH {
			t.Error("the first stage is there:", err)
		}
		died(t, h[1])
		if k.renew(); k.spares.take() != nil {
			t.Error("one is made after the end")
		}
	})
	t.Run("killed", func(t *testing.T) {
		spaces(t)
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), probeVariable+"=spare")
		cmd.Dir = t.TempDir()
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		cmd.Stdout, cmd.Stderr = theirs, os.Stderr
		stay, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stay.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		first, err := strconv.Atoi(readLine(t, bufio.NewReader(ours)))
		if err != nil {
			t.Fatal(err)
		}
		h := handles(t, stages(t, first))
		cmd.Process.Kill()
		cmd.Wait()
		for _, h := range h {
			died(t, h)
		}
	})
}

// waits is the program of TestSpareEnds.
func waits() error {
	k := New(Options{})
	k.State()
	k.renew()
	s := k.spares.take()
	if s == nil {
		return errors.New("there is no spare")
	}
	fmt.Println(s.cmd.Process.Pid)
	_, err := os.Stdin.Read(make([]byte, 1))
	return err
}

// TestMounted mounts something after a spare was made: the next command sees
// it.
func TestMounted(t *testing.T) {
	spaces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), probeVariable+"=mounted")
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "mounted\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// mounted is the program of TestMounted.
func mounted() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	k := New(Options{})
	defer k.Close()
	if s := k.State(); !strings.HasPrefix(s.Step, "namespaces") {
		return fmt.Errorf("%+v", s)
	}
	k.renew()
	s := k.spares.take()
	if s == nil {
		return errors.New("there is no spare")
	}
	k.spares.ready = s
	if _, err := pair(s.cmd.Process.Pid); err != nil { // then it has its own view
		return err
	}
	if s.outdated() {
		return errors.New("it is outdated from the beginning")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Mkdir("disk", 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "disk", "tmpfs", 0, ""); err != nil {
		return err
	}
	if err := os.WriteFile("disk/file", []byte("mounted\n"), 0o600); err != nil {
		return err
	}
	cmd := exec.Command("cat", "disk/file")
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = root, os.Stdout, os.Stderr, detached
	ended, err := k.Start(cmd, Profile{Root: root})
	if err != nil {
		return err
	}
	if status, ok := <-ended; !ok || status != 0 {
		return fmt.Errorf("status %#x", status)
	}
	return nil
}

// TestOrder sends a spare what is no order: it says so, and runs nothing.
func TestOrder(t *testing.T) {
	k := spaces(t)
	for _, c := range []struct {
		name string
		spec []byte
		want string
	}{
		{"nothing", nil, "gemline: sandbox: take an order: it is cut short\n"},
		{"what nobody understands", []byte("what\x00is this\x00"), "gemline: sandbox: take an order: what is \"what\"?\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := waiting(t, k)
			k.spares.take()
			file, err := memory("order", c.spec, false)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			err = stage.Order(s.orders, file, w, w)
			w.Close()
			s.release()
			if err != nil {
				t.Fatal(err)
			}
			out, _ := io.ReadAll(r)
			if s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != stage.Failed || string(out) != c.want {
				t.Errorf("%v: %q", s.cmd.ProcessState, out)
			}
		})
	}
}

// TestBareOrder sends a spare an order without files.
func TestBareOrder(t *testing.T) {
	k := spaces(t)
	s, _ := waiting(t, k)
	k.spares.take()
	if err := unix.Sendmsg(s.orders, []byte{1}, nil, nil, unix.MSG_NOSIGNAL); err != nil {
		t.Fatal(err)
	}
	if s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != stage.Failed {
		t.Error(s.cmd.ProcessState)
	}
	s.release()
}
