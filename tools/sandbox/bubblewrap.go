package sandbox

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Bubblewrap confines commands by the program bwrap, which puts namespaces
// around them. Unlike the kernel's own means that gemline has it sets no
// filter of system calls.
//
// What is protected and not there has to be there for bwrap to protect it: an
// empty directory is made, which Close removes.
type Bubblewrap struct {
	Path string // of bwrap

	placeholders
	once  sync.Once
	state State
}

// State implements [Sandbox]. The first call runs bwrap once.
func (b *Bubblewrap) State() State {
	b.once.Do(func() {
		b.state = State{Name: ByBubblewrap, Step: "namespaces"}
		args := append(bubblewrap(Profile{}, masks{}, ""), "true")
		try := exec.Command(b.Path, args...)
		try.Env = []string{"PATH=/bin:/usr/bin"} // which is none of the user's
		out, err := try.CombinedOutput()
		if err != nil {
			why, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			if why == "" {
				why = err.Error()
			}
			b.state.Step = "none"
			b.state.Layers = []Layer{{Name: "namespaces", Why: fmt.Sprintf("bwrap does not run: %.200s", why)}}
			return
		}
		b.state.Files, b.state.Network, b.state.Looks, b.state.Masks = true, true, true, true
		b.state.Layers = []Layer{{Name: "namespaces", On: true, Why: "users, mounts, processes, network"},
			{Name: "seccomp", Why: "bwrap is given no filter; --sandbox=kernel has one"}}
	})
	return b.state
}

// Confine implements [Sandbox].
func (b *Bubblewrap) Confine(cmd *exec.Cmd, p Profile) (func(), error) {
	if s := b.State(); !s.Files {
		return nil, &Error{Message: s.Layers[0].Why}
	}
	m, err := b.survey(p)
	if err != nil {
		return nil, err
	}
	args := bubblewrap(p, m, cmd.Dir)
	cmd.Args = append(append([]string{b.Path}, args...), append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = b.Path
	cmd.Env = append(cmd.Environ(), "TMPDIR=/tmp")
	return func() {}, nil
}

// bubblewrap returns the arguments for bwrap, without the command.
func bubblewrap(p Profile, m masks, dir string) []string {
	args := []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	if p.Look || !p.Network {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run")
	if p.Network && !p.Look { // where the names of hosts are looked up
		args = append(args, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
	}
	if p.Look {
		veils, _ := veiled(p.Root)
		for _, path := range veils {
			args = append(args, "--tmpfs", path)
		}
	}
	for _, path := range m.write {
		args = append(args, "--bind", path, path)
	}
	for _, path := range m.readOnly {
		args = append(args, "--ro-bind", path, path)
	}
	for _, s := range m.hidden {
		if s.dir {
			args = append(args, "--tmpfs", s.path, "--remount-ro", s.path)
		} else {
			args = append(args, "--ro-bind", "/dev/null", s.path)
		}
	}
	if dir != "" {
		args = append(args, "--chdir", dir)
	}
	return append(args, "--")
}
