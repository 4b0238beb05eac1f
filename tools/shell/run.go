package shell

import (
	"context"
	"os"
	"strings"
	"time"
)

// A Command is a command line to run, or a program.
type Command struct {
	Text     string   // for bash, sh if bash is missing, or PowerShell on Windows
	Argv     []string // a program and its arguments, in place of Text
	Dir      string
	Env      []string // the whole environment; nil means the result of [Environment]
	Settings Settings

	// SplitStderr separates standard error from standard output, and passes Input to the
	// command. Then Output gets only standard output, and Jobs take over no processes.
	SplitStderr bool
	Input       string

	stdin, stdout *os.File // of a [Process]

	// Output, if not nil, receives the output while the command runs, in pieces of whole
	// characters. It is called by one goroutine at a time, and not after Run has returned.
	Output func(string)

	// Terminal, if not nil, is the user's terminal, which the command uses while it runs.
	Terminal *Terminal

	// Jobs, if not nil, takes over processes that outlive the command, and ends the command
	// if this process is killed. If nil, such processes are ended.
	Jobs *Jobs
}

// A Terminal is the terminal of a user who runs a command. The command gets its own
// pseudo-terminal, reads the keyboard, and has the user's environment without secrets. It
// can prompt.
type Terminal struct {
	// Connect sends typed text to the command, until disconnect is called. ours is our end
	// of the command's terminal, theirs the other end.
	Connect func(ours, theirs *os.File) (disconnect func(), err error)

	// Show writes the raw output of the command. It is called like Output.
	Show func([]byte)
}

// name returns c on a line.
func (c Command) name() string {
	if len(c.Argv) > 0 {
		return strings.Join(c.Argv, " ")
	}
	return c.Text
}

const (
	// killGrace is the time between the signal to end and the kill.
	killGrace = 200 * time.Millisecond

	// grace is how long the output of an ended command may be silent before processes that
	// hold it open count as background processes.
	grace = 100 * time.Millisecond
)

// Run runs c and waits for its end. When ctx is done, all processes of c are ended. Failures
// are in the Outcome.
func Run(ctx context.Context, c Command) Outcome {
	if ctx.Err() != nil {
		return Outcome{Cancelled: true}
	}
	if c.SplitStderr {
		return runApart(ctx, c)
	}
	watch := c.Jobs.watching()
	p, err := spawn(c)
	if err != nil {
		return Outcome{Err: err}
	}
	watch.add(p.group.leader, "")
	out := newCapture(maxOutput, p.terminal, c.Settings.Charsets, c.Output)
	p.take, p.patience = out.write, grace
	if c.Terminal != nil {
		out.strip.screens = true
		p.take = func(b []byte) { c.Terminal.Show(b); out.write(b) }
	}
	p.begin()
	var o Outcome
	p.await(ctx, c.Settings, &o)
	o.Group = p.group.leader
	o.Code, o.Signal, o.SignalName = p.result()
	if p.held || p.group.occupied() {
		if stopped := o.Cancelled || o.Limit > 0; stopped || c.Jobs == nil {
			p.group.kill()
		} else {
			o.Background = c.Jobs.adopt(p, c.name(), out)
		}
	}
	if len(o.Background) == 0 {
		p.close()
		watch.drop(p.group.leader)
	}
	out.end()
	o.Output, o.Binary, o.Cut = out.text(), out.binary, out.kept.cut
	if c.Terminal != nil {
		o.Output = rubbedOut(o.Output)
	}
	return o
}

// await returns when the command has ended and its output is read. If a limit or ctx ended
// it, await notes that in o.
func (p *process) await(ctx context.Context, s Settings, o *Outcome) {
	var total, quiet <-chan time.Time
	var silence *time.Timer
	if s.Timeout > 0 {
		t := time.NewTimer(s.Timeout)
		defer t.Stop()
		total = t.C
	}
	if s.Inactivity > 0 {
		silence = time.NewTimer(s.Inactivity)
		defer silence.Stop()
		quiet = silence.C
	}
	for running := true; running; {
		select {
		case <-p.exited:
			running = false
			continue
		case <-ctx.Done():
			o.Cancelled = true
		case <-total:
			o.Limit = s.Timeout
			p.group.killGrace = s.KillGrace
		case <-quiet:
			if left := s.Inactivity - p.silence(); left > 0 {
				silence.Reset(left)
				continue
			}
			o.Limit, o.Quiet = s.Inactivity, true
		}
		p.group.kill()
		running = false
	}
	<-p.exited
	<-p.drained
}
