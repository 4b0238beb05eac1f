package shell

import (
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// A Process is a running program with pipes to its standard streams. Its child processes end
// with it. The caller of Open closes it.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	in, out *os.File // the same
	p       *process
	watch   *watch
	once    func() Outcome // ends it

	mu   sync.Mutex
	errs *capture // of its standard error
}

// maxErrors limits the stored standard error of a Process, in bytes.
const maxErrors = 256 << 10

// Open starts c with pipes. c.Output gets what the command writes to standard error. The
// timeouts in c do not apply.
func Open(c Command) (*Process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer theirOut.Close()
	watch := c.Jobs.watching()
	c.stdin, c.stdout, c.Settings.PTY = theirIn, theirOut, false
	p, err := spawn(c)
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	watch.add(p.group.leader, p.group.output)
	t := &Process{Stdin: in, Stdout: out, in: in, out: out, p: p, watch: watch,
		errs: newCapture(maxErrors, false, c.Settings.Charsets, c.Output)}
	t.once = sync.OnceValue(t.close)
	p.take, p.patience = t.take, grace
	p.begin()
	return t, nil
}

func (t *Process) take(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errs.write(b)
}

// Done is closed when the process has ended; its child processes may still run.
func (t *Process) Done() <-chan struct{} { return t.p.exited }

// Close ends the process and its children, and returns the outcome. It first closes the
// process's input.
func (t *Process) Close() Outcome { return t.once() }

func (t *Process) close() Outcome {
	t.in.Close()
	leave := time.NewTimer(5 * killGrace)
	defer leave.Stop()
	var o Outcome
	select {
	case <-t.p.exited:
	case <-leave.C:
		o.Cancelled = true
	}
	t.out.Close()
	return t.end(o)
}

// end ends the rest of the process's group, and completes o.
func (t *Process) end(o Outcome) Outcome {
	select {
	case <-t.p.exited:
	default:
		t.p.group.kill()
		<-t.p.exited
	}
	<-t.p.drained
	if t.p.held || t.p.group.occupied() {
		t.p.group.kill()
	}
	t.p.close()
	t.watch.drop(t.p.group.leader)
	t.in.Close()
	t.errs.end()
	o.Group, o.Stderr, o.Cut = t.p.group.leader, t.errs.text(), t.errs.kept.cut
	o.Code, o.Signal, o.SignalName = t.p.result()
	return o
}

// runApart is [Run] for a command with c.Input and separate outputs. It leaves no processes.
func runApart(ctx context.Context, c Command) Outcome {
	live := c.Output
	c.Output = nil
	t, err := Open(c)
	if err != nil {
		return Outcome{Err: err}
	}
	go func() {
		io.WriteString(t.in, c.Input) // the command may not read its input
		t.in.Close()
	}()
	first, read := newCapture(maxOutput, false, c.Settings.Charsets, live), make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 32<<10)
		for {
			n, err := t.out.Read(buf)
			first.write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	var o Outcome
	c.Settings.Inactivity = 0 // a silent command may be reading
	t.p.await(ctx, c.Settings, &o)
	o = t.end(o)
	if t.out.SetReadDeadline(time.Now().Add(grace)) != nil {
		t.out.Close()
	}
	<-read
	t.out.Close()
	first.end()
	o.Output, o.Binary, o.Cut = first.text(), first.binary, o.Cut || first.kept.cut
	return o
}
