package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"gemline/tools/sandbox"
)

// withCaches is a sandbox whose commands have caches of their own.
type withCaches struct {
	sandbox.Sandbox
	soft     bool
	promised *atomic.Bool
	caches   string
	built    string // what the user's go command has compiled
}

// least says what is in force at the least, which takes less time to find out.
func (f withCaches) least() sandbox.State {
	if k, ok := f.Sandbox.(*sandbox.Kernel); ok {
		return k.Least()
	}
	return f.State()
}

// Confine implements [sandbox.Sandbox].
func (f withCaches) Confine(cmd *exec.Cmd, p sandbox.Profile) (func(), error) {
	if free, err := f.addCaches(cmd, &p); free || err != nil {
		return func() {}, err
	}
	return f.Sandbox.Confine(cmd, p)
}

// Start implements [sandbox.Starter].
func (f withCaches) Start(cmd *exec.Cmd, p sandbox.Profile) (<-chan syscall.WaitStatus, error) {
	free, err := f.addCaches(cmd, &p)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the command can't be confined: %w", err)
	case free:
		return nil, cmd.Start()
	}
	return sandbox.Start(f.Sandbox, cmd, p)
}

// addCaches gives cmd the caches, and p what is seen through them. It reports
// whether cmd runs as it is.
func (f withCaches) addCaches(cmd *exec.Cmd, p *sandbox.Profile) (free bool, err error) {
	switch st := f.State(); {
	case f.promised.Load() && !st.Confined():
		return false, fmt.Errorf("this run began confined, and now %s; gemline sandbox status says more", missing(st))
	case f.soft && !st.Files && !st.Network:
		return true, nil
	}
	if f.caches != "" && os.MkdirAll(f.caches, 0o700) == nil {
		p.Cache, p.Below = filepath.Join(f.caches, "go-build"), f.built
		cmd.Env = append(cmd.Environ(), "GOCACHE="+p.Cache,
			"npm_config_cache="+filepath.Join(f.caches, "npm"), "PIP_CACHE_DIR="+filepath.Join(f.caches, "pip"))
	}
	return false, nil
}

// Close lets go of what the sandbox has left.
func (f withCaches) Close() error {
	if c, ok := f.Sandbox.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}
