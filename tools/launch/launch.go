package launch

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A Command is a program to run, with its directory, rights and environment. The
// zero values are the safe ones.
type Command struct {
	Text string   // a command line, for a shell; or
	Argv []string // a program and its arguments
	Dir  string   // "" is the directory of this process

	// Unconfined marks the user's own command, with all the user's rights. Any other command is
	// confined; it has Rights beyond those of all confined commands, or is read-only and
	// sees what ReadOnly shows. KillLeftovers ends the command's background processes with it.
	// Commands with Loopback reach each other's servers, on loopback addresses that no other process
	// reaches.
	Unconfined    bool
	Rights        engine.Rights
	ReadOnly      *ReadOnlyView
	KillLeftovers bool
	Loopback      bool

	Vars Vars     // the environment
	Env  []string // NAME=value, in addition to Vars

	Input       string          // its standard input
	SplitStderr bool            // standard output and standard error are returned separately
	Output      func(string)    // is called with output as it is written; may be nil
	Terminal    *shell.Terminal // the user's terminal for a typed command, else nil
	Limit       Limit           // replaces the limits of all commands; the zero Limit leaves them
}

// A Limit is the time limit of a command.
type Limit struct {
	Timeout   time.Duration // from its start on
	KillGrace time.Duration // time between the end signal and the kill; 0 is a moment
}

// A ReadOnlyView is what a read-only command sees beyond the workspace.
type ReadOnlyView struct {
	Shown, Hidden []string
	Environ       []string // in place of the process's
}

// Vars says which of the user's variables a command gets.
type Vars int

// The environments, the least first.
const (
	Quiet  Vars = iota // without secrets, and with variables that prevent prompts and pagers
	Usual              // without secrets
	Sealed             // without secrets, even if the settings reveal some
)

// Environ returns the environment for v.
func (l *Launcher) Environ(v Vars) []string {
	s := l.Config.Shell
	switch v {
	case Quiet:
		return shell.Environment(s.Environ, s)
	case Sealed:
		s.Reveal = false
	}
	return shell.Inherited(s.Environ, s)
}

// Lookup returns the value of a variable of an environment. The last entry with the name
// wins.
func Lookup(env []string, name string) (value string, ok bool) {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// environ returns the environment of c.
func (l *Launcher) environ(c Command) (env []string) {
	if c.ReadOnly != nil {
		at := *l
		at.Config.Shell.Environ = c.ReadOnly.Environ
		l = &at
	}
	return append(l.Environ(c.Vars), c.Env...)
}

// command returns c as a shell.Command.
func (l *Launcher) command(c Command) shell.Command {
	s := l.Config.Shell
	if c.Limit.Timeout > 0 {
		s.Timeout, s.Inactivity, s.KillGrace = c.Limit.Timeout, 0, c.Limit.KillGrace
	}
	if c.Terminal != nil {
		s.Timeout, s.Inactivity = 0, 0 // an editor may idle
	}
	if s.Confine = l.confine(c); !c.Unconfined && l.Sandbox != nil {
		s.IsHelperProcess = sandbox.IsHelperProcess
	}
	return shell.Command{Text: c.Text, Argv: c.Argv, Dir: c.Dir, Env: l.environ(c), Settings: s,
		Input: c.Input, SplitStderr: c.SplitStderr, Output: c.Output, Terminal: c.Terminal, Jobs: l.Jobs}
}

// Run runs c in a session of its own, and returns when c has ended. Jobs take over the
// remaining processes; without Jobs, they are ended.
func (l *Launcher) Run(ctx context.Context, c Command) shell.Outcome {
	return shell.Run(ctx, l.command(c))
}

// Start starts c as one of the Jobs, and returns its process id.
func (l *Launcher) Start(c Command) (pid int, err error) { return l.Jobs.Start(l.command(c)) }

// Open starts c, a server on standard input and output, with pipes to it. The Output of c
// gets its standard error. The caller closes the Process.
func (l *Launcher) Open(c Command) (*shell.Process, error) { return shell.Open(l.command(c)) }

// Streams are the standard streams of an attached command; nil is the null device.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Attach runs c as a child of this process, in its session, with the given streams: a
// program that takes over the terminal or answers a question. Its background processes
// continue. The error comes from [exec.Cmd.Run] or ctx.
func (l *Launcher) Attach(ctx context.Context, c Command, s Streams) error {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = l.environ(c)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, s.In, s.Out, s.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	if confine := l.confine(c); confine != nil {
		release, err := confine(cmd)
		if err != nil {
			return err
		}
		defer release()
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// confine returns what confines c, nil if nothing does.
func (l *Launcher) confine(c Command) func(*exec.Cmd) (release func(), err error) {
	if !c.Unconfined && l.Sandbox != nil {
		p := l.SandboxWith(c.Rights)
		p.EndLeftovers, p.Loopback = c.KillLeftovers, c.Loopback
		for _, path := range c.Rights.Removed {
			p.Removed = append(p.Removed, disk.ResolveParent(path))
		}
		if c.ReadOnly != nil {
			p.RunReadOnly, p.EndLeftovers = true, true
			p.ReadOnly = slices.Concat(p.ReadOnly, c.ReadOnly.Shown)
			p.Hidden = slices.Concat(p.Hidden, c.ReadOnly.Hidden)
		}
		return func(cmd *exec.Cmd) (func(), error) {
			if l.Config.Cut && !l.State().Network {
				return nil, fmt.Errorf("--offline: %s does not keep commands from the network", l.State().Name)
			}
			return l.Sandbox.Confine(cmd, p)
		}
	}
	if !l.Config.Cut {
		return nil
	}
	return func(cmd *exec.Cmd) (func(), error) {
		if err := sandbox.CutNetwork(cmd); err != nil {
			return nil, fmt.Errorf("--offline: the command would have the network: %w", err)
		}
		return func() {}, nil
	}
}
