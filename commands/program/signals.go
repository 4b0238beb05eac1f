package program

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"gemline/commands/program/ending"
)

// listen lets the signals that end a program end the run instead, so that it
// can write its final record. In a session, Ctrl-C is the session's. What was
// ignored when the program began, as by nohup, stays ignored.
//
// A run that gets a signal may not stop, as when nobody reads what it writes. If it does not end
// soon, or gets another signal, it is left behind, and last has a moment to write how it ended. The
// same holds for a run whose time is up.
//
// HungUp reports whether the run goes on although the terminal has gone away.
//
// The signals stay caught until the process is gone. So the exit code is the same
// if a terminal that goes away is noticed before its signal comes.
func listen(ctx context.Context, stop context.CancelCauseFunc, interactive bool, hungUp func() bool,
	exit func(int), last func(error)) (end func()) {
	const moment = time.Second
	signals := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, os.Interrupt} {
		if !signal.Ignored(sig) && (sig != os.Interrupt || !interactive) {
			signal.Notify(signals, sig)
		}
	}
	// A broken pipe is an error of a write, which is told apart by stream.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		var cause error
		for cause == nil {
			select {
			case sig := <-signals:
				if sig == syscall.SIGHUP && hungUp() {
					continue
				}
				cause = ending.Signal(sig.(syscall.Signal))
				stop(cause)
			case <-ctx.Done():
				cause = context.Cause(ctx)
			case <-done:
				return
			}
		}
		soon := 3 * time.Second
		if cause == ending.Signal(syscall.SIGPIPE) {
			soon *= 10 // nobody has told it to hurry, and there may be much to put down
		}
		if !overdue(soon, signals, done) {
			return
		}
		said := make(chan struct{})
		go func() { defer close(said); last(cause) }()
		select {
		case <-time.After(moment):
		case <-said:
		}
		exit(ending.Of(cause).ExitCode)
	})
	return func() { close(done); wg.Wait() }
}

// overdue waits for a run that got a signal, and reports whether it is left behind: when it does not
// end soon, or at once after another signal. A signal that comes together with the first, as where a
// program and its group get the same, does not count.
func overdue(soon time.Duration, again <-chan os.Signal, done <-chan struct{}) bool {
	const together = 500 * time.Millisecond
	late, told := time.After(soon), time.Now()
	for {
		select {
		case <-again:
			if time.Since(told) > together {
				return true
			}
		case <-late:
			return true
		case <-done:
			return false
		}
	}
}
