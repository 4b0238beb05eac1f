//go:build unix

package terminal

import (
	"os/exec"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A whole session driven by expect(1), which waits for prompts and questions
// at the end of what it has seen, as scripts do.
func TestSessionByExpect(t *testing.T) {
	t.Parallel()
	path := pt.Need(t, "expect")
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(pt.Work()...)
			c := pt.Terminal(t, server)
			cmd := exec.CommandContext(t.Context(), path, "-c", `
				set timeout 300
				proc until {end} {
					expect {
						-re $end {}
						timeout { puts "nothing like $end"; exit 7 }
						eof { puts "ended before $end"; exit 8 }
					}
				}
				proc answer {what reply} {
					until "permission:\[^\n\]*$what.*\n(\033\\S*)?y n \[^\n\]*\\?\[^\n\]*: $"
					send "$reply\r"
				}
				proc ready {} { until "> (\033\\S*)?$" } ;# smart terminals are told where it ends
				eval spawn -noecho [split $env(COMMAND) "\n"]
				ready
				send "mend it\r"
				answer "greeting.txt" y
				answer "rm notes.txt" "n because I still need them"
				answer "count-" a
				until "done:"
				ready
				send "tell me a story\r"
				until "for ever"
				send "\003"
				until "cancelled"
				ready
				send "what does @notes.txt say?\r"
				until "remember the milk"
				ready
				send "/quit\r"
				expect eof
				exit [lindex [wait] 3]`)
			cmd.Dir = c.Dir
			cmd.Env = append(c.Env, "TERM="+term, "COMMAND="+strings.Join(append([]string{c.Path}, c.Args...), "\n"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%q", err, out)
			}
			pt.Lint(t, out, teletype.Rules{Smart: term != "dumb"})
			pt.CheckWork(t, c, server)
		})
	}
}
