//go:build unix

package line

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// passthrough gives the terminal to a command, which runs in a pseudo-terminal. It returns typed
// input that the command has not read.
func (s *source) passthrough(use func(Connect)) (unread []byte) {
	s.modes.restore()
	s.lentOut.Store(true)
	defer func() {
		s.lentOut.Store(false)
		s.modes.restore()
		s.hideEcho()
	}()
	use(func(ours, theirs *os.File) (func(), error) {
		if err := s.resemble(theirs); err != nil {
			return nil, err
		}
		resize(ours, s.file)
		if err := s.modes.change(passthroughMode); err != nil {
			return nil, err
		}
		stop := s.pass(ours)
		return func() {
			stop()
			unread = append(unread, leftover(theirs)...)
		}, nil
	})
	return unread
}

// resemble gives tty the original modes of s's terminal.
func (s *source) resemble(tty *os.File) error {
	t, err := s.modes.original()
	if err != nil {
		return err
	}
	return unix.IoctlSetTermios(int(tty.Fd()), setTermios, t)
}

// resize gives the terminal behind ours the size of the terminal like.
func resize(ours, like *os.File) {
	size, err := unix.IoctlGetWinsize(int(like.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return
	}
	if raw, err := ours.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
	}
}

// pass writes typed text to ours, and keeps its size equal to that of s's terminal.
func (s *source) pass(ours *os.File) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, unix.SIGWINCH)
	var both sync.WaitGroup
	both.Go(func() {
		for {
			select {
			case <-resized:
				resize(ours, s.file)
			case <-ctx.Done():
				return
			}
		}
	})
	both.Go(func() {
		for {
			b, err := s.read(ctx)
			if err == errResumed {
				continue
			}
			if err != nil {
				return
			}
			if _, err := ours.Write(b); err != nil {
				return
			}
			if bytes.ContainsAny(b, "\x03\x1c") {
				resumeStopped(ours)
			}
		}
	})
	return func() {
		signal.Stop(resized)
		cancel()
		ours.SetWriteDeadline(time.Now()) // the command may have stopped reading
		both.Wait()
		ours.SetWriteDeadline(time.Time{})
	}
}

// resumeStopped continues the command in the terminal behind ours, so that Ctrl-C also ends a
// stopped command: no shell has a prompt that would continue it.
func resumeStopped(ours *os.File) {
	if raw, err := ours.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			if group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); err == nil && group > 1 {
				unix.Kill(-group, unix.SIGCONT)
			}
		})
	}
}

// leftover reads text that was typed and not read from tty. If other keys than Backspace are in it,
// such as a late answer of a terminal, it returns nothing.
func leftover(tty *os.File) []byte {
	m := modes{file: tty}
	if m.change(drainMode) != nil {
		return nil
	}
	all := bytes.ReplaceAll(drain(int(tty.Fd()), make([]byte, 4096)), []byte("\r"), []byte("\n"))
	if bytes.ContainsFunc(all, func(r rune) bool { return isKey(r) && r != '\b' && r != 0x7f }) {
		return nil
	}
	return all
}
