//go:build unix

package programtest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// Phases are what a run may be doing when something happens to it. Each tells
// when the run is that far, by a function that waits until what was started is
// over.
var Phases = map[string]func(reached chan<- Ended, project string) et.Reply{
	"waiting for the first byte": func(reached chan<- Ended, _ string) et.Reply {
		return Telling(reached, et.Silent())
	},
	"in the middle of the answer": func(reached chan<- Ended, _ string) et.Reply {
		return Telling(reached, et.Stalled(et.Says("half an answer ")))
	},
	"about to ask again": func(reached chan<- Ended, _ string) et.Reply {
		r := et.RateLimited(time.Minute)
		r.Ended = func() { reached <- Nothing }
		return r
	},
	"in a command": func(reached chan<- Ended, project string) et.Reply {
		pipe := filepath.Join(project, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			panic(err)
		}
		go func() {
			held, err := os.Open(pipe) // waits for the command
			if err != nil {
				return
			}
			held.Read(make([]byte, 1))
			reached <- func() error {
				defer held.Close()
				held.SetReadDeadline(time.Now().Add(time.Minute)) // where a pipe can have one
				_, err := io.Copy(io.Discard, held)               // ends when nobody holds the other end any more
				return err
			}
		}()
		return et.Says("", et.Call("1", "run_shell_command", "command", "exec 3>pipe; sleep 1000 & echo >&3; wait"))
	},
}

// Ended waits until no process that a phase has started is left.
type Ended func() error

func Nothing() error { return nil }

// Telling returns a reply that tells when it is asked for.
func Telling(reached chan<- Ended, r et.Reply) et.Reply {
	r.Inspect = func(context.Context, *engine.Request) { reached <- Nothing }
	return r
}

// CheckEnded checks that what a phase has started is over.
func CheckEnded(t *testing.T, over Ended) {
	t.Helper()
	if err := over(); err != nil {
		t.Errorf("what was started goes on: %v", err)
	}
}
