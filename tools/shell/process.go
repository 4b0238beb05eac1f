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

// A process is a running command. A goroutine waits for its end, and another reads its output.
// Whoever called begin waits for both.
type process struct {
	cmd    *exec.Cmd
	group  *group
	output *os.File // what the command writes to, our end

	left     func()         // called when the command is over
	terminal bool           // it writes to a terminal
	keeps    func(int) bool // tells what only confines the command; may be nil

	take func([]byte) // is given the output, by the reading goroutine
	done func()       // called when there is no more, may be nil

	// patience is how long an ended command's output may be silent; 0 is
	// until all who hold it have closed it.
	patience time.Duration

	exited  chan struct{} // closed when the command is over
	drained chan struct{} // closed when nothing more is read
	held    bool          // somebody still held the output then

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

// build returns how c is run, and the file that holds its text, if one does.
func (c Command) build() (cmd *exec.Cmd, script *os.File, err error) {
	if len(c.Argv) == 0 {
		return commandLine(c.Text)
	}
	cmd = exec.Command(c.Argv[0], c.Argv[1:]...)
	return cmd, nil, cmd.Err
}

// start starts cmd, confined if that is wanted.
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

// attach gives cmd the terminal that theirs is the end of, connected to the
// user's until left is called.
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

// outputs returns the two ends of what a command writes to, and whether that
// is a terminal.
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

// read takes in the output until it is closed, or the command is over and
// nothing more comes.
func (p *process) read() {
	defer close(p.drained)
	if p.done != nil {
		defer p.done()
	}
	const atOnce = 1 << 20 // more than fits between the command and us
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
			again = false // the command has ended just now; there may be more
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

// close lets go of the output.
func (p *process) close() {
	p.output.Close()
	p.group.forget()
}

// silence returns for how long there was no output. While output is shown,
// it is the reader who is slow.
func (p *process) silence() time.Duration {
	last := p.active.Load()
	if last == 0 {
		return 0
	}
	return time.Since(time.Unix(0, last))
}

// result says how the command ended, once it has.
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
