//go:build unix

package sessions

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Whoever comes back to a session is told what it is about, how old it is, what
// was under way when it ended, and what was said last; /history has the rest.
func TestResumedSessionSaysWhereItStands(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Says("It is **mended**.\n\nThe cause was a missing case.\n\n"+et.Text(720)+"."+"The end."),
				et.Says("Now I run the tests.", et.Call("1", "run_shell_command", "command", "echo >begun; sleep 99")))
			c := pt.Terminal(t, server)
			run := func(args ...string) *exec.Cmd {
				cmd := exec.Command(c.Path, append([]string{"-m", pt.Model, "-y", "-o", "stream-json"}, args...)...)
				cmd.Dir, cmd.Env = c.Dir, c.Env
				return cmd
			}
			if out, err := run("-p", "mend the parser").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			second := run("--resume", "latest", "-p", "now test it")
			begun := filepath.Join(c.Dir, "begun")
			if err := syscall.Mkfifo(begun, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := second.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(begun); err != nil { // which waits until the command writes it
				t.Fatal(err)
			}
			second.Process.Kill()
			second.Wait()

			c.Env = append(c.Env, "TERM="+term)
			c.Args = append(c.Args, "--resume", "latest")
			s := teletype.Start(t, c)
			s.Expect("info: resumed: mend the parser (just now, 2 turns)")
			s.Expect("warning: interrupted, outcome unknown: ")
			s.Expect("sleep 99")
			s.Expect("you: now test it")
			s.Expect("Now I run the tests.")
			s.Expect("info: /history shows the rest")
			s.Say("/history")
			s.Expect("you: mend the parser")
			s.Expect("The end.")
			s.Expect("you: now test it")
			s.Say("/quit")
			s.Exit()
		})
	}
}
