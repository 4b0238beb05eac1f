package shell

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// commandLine returns how text is run.
func commandLine(text string) (cmd *exec.Cmd, script *os.File, err error) {
	shell, err := exec.LookPath("powershell.exe")
	if err != nil {
		return nil, nil, err
	}
	return exec.Command(shell, "-NoProfile", "-NonInteractive", "-Command", text), nil, nil
}

// detach gives cmd a group of its own and no window.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func signalled(syscall.WaitStatus) (int, string) { return 0, "" }

// A group is what a command started.
type group struct {
	leader    int
	output    string
	reaped    atomic.Bool
	killGrace time.Duration // unused: no signal to end on this system
}

// occupied reports false: after the leader's end, its tree can't be found.
func (g *group) occupied() bool { return false }

func (g *group) members() []int { return nil }

// kill ends the tree of processes below the leader.
func (g *group) kill() {
	if g.reaped.Load() {
		return
	}
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.leader)).Run() == nil {
		return
	}
	if p, err := os.FindProcess(g.leader); err == nil {
		p.Kill()
		p.Release()
	}
}

func (g *group) forget() {}

func linkName(*os.File) string { return "" }

func terminal(int, int) (ours, theirs *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}

// Conceal does nothing on this system.
func Conceal() error { return nil }

// openTerminal can't be had here, nor control.
func openTerminal() (ours, theirs *os.File, err error) { return terminal(0, 0) }

func control(*exec.Cmd) error { return errors.ErrUnsupported }
