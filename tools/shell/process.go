package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A process is a running command. A goroutine waits for its end, and another reads its
// output. The caller of begin waits for both.
type process struct {
	cmd    *exec.Cmd
	group  *group
	output *os.File // our end of the command's output

	left     func()         // called when the command is over
	terminal bool           // it writes to a terminal
	keeps    func(int) bool // reports whether a process belongs to the sandbox; may be nil

	take func([]byte) // receives the output, on the reading goroutine
	done func()       // called at the end of the output; may be nil

	// patience is how long the output of an ended command may be silent; 0 waits until all
	// processes have closed it.
	patience time.Duration

	exited  chan struct{} // closed when the command is over
	drained chan struct{} // closed when reading has ended
	held    bool          // a process still had the output open then

	over   atomic.Bool
	active atomic.Int64 // when there last was output, in Unix nanoseconds; 0 while it is shown
}

// maxArgument is how long a command line may be as an argument. Linux takes
// 128 KiB, other systems more.
const maxArgument = 120 << 10

// spawn starts c but does not read its output yet.
func spawn(c Command) (*process, error) {
	if strings.IndexByte(c.name(), 0) >= 0 {
		return nil, errors.New("the command holds a NUL byte")
	}
	if info, err := os.Stat(c.Dir); c.Dir != "" && err != nil {
		return nil, err
	} else if c.Dir != "" && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", c.Dir)
	}
	cmd, script, err := c.build()
	if err != nil {
		return nil, err
	}
	if script != nil {
		defer script.Close()
	}
	cmd.Dir = c.Dir
	if cmd.Env = slices.Clone(c.Env); c.Env == nil {
		cmd.Env = Environment(c.Settings.Environ, c.Settings)
	}
	if c.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+c.Dir)
	}
	ours, theirs, tty, err := c.outputs()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if c.stdin != nil {
		cmd.Stdin, cmd.Stdout = c.stdin, c.stdout
	}
	detach(cmd)
	left := func() {}
	if c.Terminal != nil {
		if left, err = c.attach(cmd, ours, theirs); err != nil {
			return nil, errors.Join(err, ours.Close(), theirs.Close())
		}
	}
	name := linkName(theirs)
	err = c.start(cmd)
	if c.Terminal == nil || err != nil {
		theirs.Close()
	}
	if err != nil {
		left()
		ours.Close()
		return nil, err
	}
	return &process{
		cmd:      cmd,
		group:    &group{leader: cmd.Process.Pid, output: name},
		keeps:    c.Settings.IsHelperProcess,
		output:   ours,
		terminal: tty,
		left:     left,
		exited:   make(chan struct{}),
		drained:  make(chan struct{}),
	}, nil
}

// build returns the command for c, and the file with its text, if there is one.
func (c Command) build() (cmd *exec.Cmd, script *os.File, err error) {
	if len(c.Argv) == 0 {
		return commandLine(c.Text)
	}
	cmd = exec.Command(c.Argv[0], c.Argv[1:]...)
	return cmd, nil, cmd.Err
}

// start starts cmd, with c's confinement if there is one.
func (c Command) start(cmd *exec.Cmd) error {
	if c.Settings.Confine != nil {
		release, err := c.Settings.Confine(cmd)
		if err != nil {
			return fmt.Errorf("the command can't be confined: %w", err)
		}
		defer release()
	}
	err := cmd.Start()
	if p := (*os.PathError)(nil); errors.As(err, &p) && p.Op == "fork/exec" {
		p.Op = "run"
	}
	return err
}

// attach gives cmd the terminal theirs, connected to the user's terminal until left is
// called.
func (c Command) attach(cmd *exec.Cmd, ours, theirs *os.File) (left func(), err error) {
	disconnect, err := c.Terminal.Connect(ours, theirs)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = theirs
	cmd.Env = append(Inherited(c.Settings.Environ, c.Settings), "GEMINI_CLI=1")
	if c.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+c.Dir)
	}
	if err := control(cmd); err != nil {
		disconnect()
		return nil, err
	}
	return func() { disconnect(); theirs.Close() }, nil
}

// outputs returns both ends of a command's output, and whether it is a terminal.
func (c Command) outputs() (ours, theirs *os.File, tty bool, err error) {
	s := c.Settings
	if c.Terminal != nil {
		ours, theirs, err = openTerminal()
		return ours, theirs, true, err
	}
	if s.PTY {
		if ours, theirs, err = terminal(s.Columns, s.Rows); err == nil {
			return ours, theirs, true, nil
		}
	}
	ours, theirs, err = os.Pipe()
	return ours, theirs, false, err
}

func (p *process) begin() {
	p.active.Store(time.Now().UnixNano())
	go p.read()
	go p.wait()
}

func (p *process) wait() {
	defer close(p.exited)
	p.cmd.Wait() // ProcessState has the outcome
	p.group.reaped.Store(true)
	p.left()
	p.over.Store(true)
	if p.patience > 0 && p.output.SetReadDeadline(time.Now()) != nil {
		select { // no deadlines on this system
		case <-p.drained:
		case <-time.After(p.patience):
			p.output.Close()
		}
	}
}

// read reads the output until it is closed, or until the command has ended and is silent.
func (p *process) read() {
	defer close(p.drained)
	if p.done != nil {
		defer p.done()
	}
	const atOnce = 1 << 20 // more than the size of a pipe's buffer
	buf := make([]byte, 32<<10)
	late, again := 0, true
	for {
		n, err := p.output.Read(buf)
		if n > 0 {
			p.active.Store(0)
			p.take(buf[:n])
			p.active.Store(time.Now().UnixNano())
		}
		switch over := p.over.Load() && p.patience > 0; {
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			if p.held = errors.Is(err, os.ErrClosed); !p.held {
				p.close()
			}
			return
		case err != nil && !again:
			p.held = true
			return
		case err != nil:
			again = false // the command has just ended; read the rest
			p.output.SetReadDeadline(time.Now().Add(p.patience))
		case over:
			if late += n; late > atOnce {
				p.held = true
				return
			}
			p.output.SetReadDeadline(time.Now().Add(p.patience))
		}
	}
}

// close closes the output.
func (p *process) close() {
	p.output.Close()
	p.group.forget()
}

// silence returns the time since the last output; 0 while output is being shown, as then the
// reader is slow.
func (p *process) silence() time.Duration {
	last := p.active.Load()
	if last == 0 {
		return 0
	}
	return time.Since(time.Unix(0, last))
}

// result returns the exit status of the ended command.
func (p *process) result() (code, signal int, name string) {
	state := p.cmd.ProcessState
	if state == nil {
		return 0, 0, ""
	}
	if signal, name = signalled(state.Sys().(syscall.WaitStatus)); signal != 0 {
		return 0, signal, name
	}
	return state.ExitCode(), 0, ""
}
