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

// listen makes the signals that end a program end the run instead, so that the run can write its
// final record. In a session, Ctrl-C is the session's. A signal that was ignored when the program
// started, as by nohup, stays ignored.
//
// A run may not stop after a signal, for example if nobody reads its output. If it does not end
// soon, or gets another signal, it is abandoned, and last has a second to write the outcome. The
// same holds for a run that reached its time limit.
//
// HungUp reports whether the run continues although the terminal has gone away.
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
	// SIGPIPE must not end the process: the failed write tells which stream is broken.
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
			soon *= 10 // nobody asked it to hurry, and it may have much to store
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

// overdue waits for a run that got a signal, and reports whether the run is abandoned: if it does
// not end soon, or gets another signal. A second signal within half a second does not count, since
// a program and its process group may get the same signal.
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
