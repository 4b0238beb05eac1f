package shell

import (
	"os"
	"testing"
	"time"
)

func TestShown(t *testing.T) {
	for _, test := range []struct {
		o    Outcome
		want string
	}{
		{Outcome{Output: "a"}, "a"},
		{Outcome{}, "(Command produced no output)"},
		{Outcome{Output: "a", Code: 2}, "Command exited with code 2.\na"},
		{Outcome{Signal: 9, SignalName: "SIGKILL"}, "Command terminated by signal: SIGKILL.\n(Command produced no output)"},
		{Outcome{Output: "a", Signal: 64}, "Command terminated by signal: 64.\na"},
		{Outcome{Output: "a", Cancelled: true}, "Command was cancelled.\na"},
		{Outcome{Limit: 5 * time.Minute, Quiet: true, Output: "a"}, "Command was cancelled after 5.0 minutes without output.\na"},
		{Outcome{Err: os.ErrNotExist}, "Command failed: file does not exist\n(Command produced no output)"},
	} {
		if got := test.o.Shown(); got != test.want {
			t.Errorf("got %q; want %q", got, test.want)
		}
	}
}
