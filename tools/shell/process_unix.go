//go:build unix

package shell

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// commandLine returns how text is run. A text too long for an argument is passed in a file,
// which is already unlinked.
func commandLine(text string) (cmd *exec.Cmd, script *os.File, err error) {
	var shell string
	for _, name := range []string{"bash", "sh", "/bin/bash", "/bin/sh"} { // PATH may be unset
		if shell, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if len(text) <= maxArgument {
		return exec.Command(shell, "-c", "--", text), nil, nil
	}
	if script, err = scriptFile("exec 3<&-\n" + text); err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(shell, "/dev/fd/3")
	cmd.ExtraFiles = []*os.File{script}
	return cmd, script, nil
}

func scriptFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "command-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// detach gives cmd a session of its own, without a terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func signalled(status syscall.WaitStatus) (int, string) {
	if !status.Signaled() {
		return 0, ""
	}
	return int(status.Signal()), unix.SignalName(status.Signal())
}

// A group is the processes of a command. It is safe for concurrent use.
type group struct {
	leader    int         // the command's process id, also of its session and group
	reaped    atomic.Bool // the leader is gone, and its id may be reused
	killGrace time.Duration

	mu     sync.Mutex
	output string       // the name of its output in lists of open files
	known  map[int]proc // processes at the last listing
}

// A proc is a process as the system lists it.
type proc struct {
	parent, group, session int
	born                   string // its start time, "" if unknown
}

// occupied reports whether processes remain, with a cheap check first.
func (g *group) occupied() bool {
	maybe := syscall.Kill(-g.leader, 0) != syscall.ESRCH
	g.mu.Lock()
	for pid, p := range g.known {
		if session, err := unix.Getsid(pid); err == nil && session == p.session {
			maybe = true
		}
	}
	g.mu.Unlock()
	return maybe && len(g.members()) > 0
}

// members returns the command's processes: in its session, descended from it, or writing to
// its output. Zombies don't count, nor does a leader that has ended.
func (g *group) members() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	procs := processes()
	if _, taken := procs[g.leader]; taken && g.reaped.Load() {
		g.known = nil
		return nil // an id is not reused while it is the id of a group
	}
	ours := map[int]proc{}
	for pid, p := range procs {
		was, known := g.known[pid]
		if pid == g.leader || p.session == g.leader || p.group == g.leader ||
			known && was.session == p.session && was.born == p.born ||
			g.output != "" && pid != os.Getpid() && writesTo(pid, g.output) {
			ours[pid] = p
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, p := range procs {
			_, in := ours[pid]
			if _, child := ours[p.parent]; child && !in {
				ours[pid] = p
				grown = true
			}
		}
	}
	g.known = ours
	return slices.Sorted(maps.Keys(ours))
}

// signal sends sig to all processes of the command.
func (g *group) signal(sig syscall.Signal) {
	members := g.members()
	if !g.reaped.Load() || len(members) > 0 {
		syscall.Kill(-g.leader, sig)
	}
	for _, pid := range members {
		if group, err := syscall.Getpgid(pid); err == nil && group != g.leader {
			syscall.Kill(pid, sig)
		}
	}
}

// kill ends all processes of the command, first by the signal to end.
func (g *group) kill() {
	g.signal(syscall.SIGTERM)
	deadline := time.NewTimer(cmp.Or(g.killGrace, killGrace))
	defer deadline.Stop()
	look := time.NewTicker(killGrace / 20)
	defer look.Stop()
	for asking := true; asking; {
		if g.gone() {
			return
		}
		select {
		case <-look.C:
		case <-deadline.C:
			asking = false
		}
	}
	for range 200 { // a listing misses processes that are just starting
		g.signal(syscall.SIGKILL)
		<-look.C
		if g.gone() {
			return
		}
	}
}

// gone reports whether all processes of the command have ended.
func (g *group) gone() bool { return g.reaped.Load() && !g.occupied() }

// forget drops the output's name, which may be reused.
func (g *group) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.output = ""
}

// psProcesses lists processes by the ps command.
func psProcesses() map[int]proc {
	ps := exec.Command("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=")
	ps.Env = []string{"PATH=/bin:/usr/bin"} // so that only the system's ps runs
	out, err := ps.Output()
	if err != nil {
		return nil
	}
	procs := map[int]proc{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.HasPrefix(f[3], "Z") {
			continue
		}
		pid := number(f[0])
		session, err := unix.Getsid(pid)
		if err != nil {
			continue
		}
		procs[pid] = proc{parent: number(f[1]), group: number(f[2]), session: session}
	}
	return procs
}

// number returns the number that s is, or 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
