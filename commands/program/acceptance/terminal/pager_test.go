package terminal

import (
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Long help goes through the user's pager on a terminal, and not in plain mode.
func TestHelpPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		term  string
		paged bool
	}{{"xterm-256color", true}, {"dumb", false}} {
		t.Run(c.term, func(t *testing.T) {
			cmd := pt.Terminal(t, et.NewServer())
			cmd.Args, cmd.Term = []string{"help", "exit-codes"}, c.term
			cmd.Env = append(cmd.Env, "PAGER=sed s/^/paged:/")
			p := teletype.Start(t, cmd)
			p.Expect("EXIT CODES")
			p.Expect("128+n")
			if got := strings.Contains(string(p.Transcript()), "paged:"); got != c.paged {
				t.Errorf("paged %v: %q", got, p.Transcript())
			}
		})
	}
}
