//go:build unix

package terminal

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A whole session over ssh, on terminals of both kinds.
func TestSessionOverSSH(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(pt.Work()...)
			c := pt.Terminal(t, server)
			c.Term = term
			ssh, code := pt.SshServer(t).Command(c, "-tt")
			s := teletype.Start(t, ssh)
			pt.Converse(s.Line, s.Send, s.Expect)
			pt.CheckCode(t, code, 0)
			if code := s.Exit(); code != 0 {
				t.Errorf("ssh: exit code %d", code)
			}
			pt.Lint(t, s.Transcript(), teletype.Rules{Smart: term != "dumb"})
			pt.CheckWork(t, c, server)
		})
	}
}

// Without a terminal, what comes in is a prompt and what goes out an answer.
func TestAnswerOverSSH(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "rm notes.txt")), et.Says("Done **that**."))
	c := pt.Terminal(t, server)
	ssh, code := pt.SshServer(t).Command(c, "-T")
	cmd := exec.Command(ssh.Path, ssh.Args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = ssh.Env, strings.NewReader("tidy up\n"), &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pt.CheckCode(t, code, 0)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if out.String() != "Done **that**.\n" {
		t.Errorf("stdout: %q", out.String())
	}
	if !strings.HasPrefix(errs.String(), "warning: ") {
		t.Errorf("stderr: %q", errs.String())
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err != nil {
		t.Errorf("nobody was asked: %v", err)
	}
	if !bytes.Contains(server.Requests()[0].Body, []byte("tidy up")) {
		t.Error("the prompt did not reach the model")
	}
}

// A connection that is cut, whatever the session is doing, ends the session as
// a hang-up does: what was said is kept, what was started ends, and the next
// connection goes on.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	for i, phase := range slices.Sorted(maps.Keys(pt.Phases)) {
		for j, how := range slices.Sorted(maps.Keys(pt.Cuts)) {
			prepare, cut := pt.Phases[phase], pt.Cuts[how]
			for k, term := range pt.Terminals {
				if (j != i%2 || k != i/2%2) && !et.Soak() {
					continue // each phase is cut once then, and each cut met on each terminal
				}
				t.Run(strings.Join([]string{phase, how, term}, "/"), func(t *testing.T) {
					t.Parallel()
					reached := make(chan pt.Ended, 10)
					server := et.NewServer(et.Says("Noted."))
					c := pt.Terminal(t, server, "-y")
					c.Term = term
					server.Add(prepare(reached, c.Dir), et.Says("Seven."))
					d := pt.SshServer(t)
					ssh, code := d.Command(c, "-tt")
					s := teletype.Start(t, ssh)
					s.Say("remember seven")
					s.Expect("done:")
					s.Say("go on")
					over := <-reached
					cut(s, d)
					pt.CheckCode(t, code, 129)
					pt.CheckEnded(t, over)
					c.Args = append(c.Args, "--resume", "latest")
					ssh, code = d.Command(c, "-tt")
					s = teletype.Start(t, ssh)
					s.Say("which number?")
					s.Expect("Seven.")
					s.Expect("done:")
					s.Say("/quit")
					pt.CheckCode(t, code, 0)
					s.Exit()
					requests := pt.Streamed(server)
					pt.CheckTurns(t, requests[len(requests)-1].Contents(), "remember seven", "Noted.", "which number?")
				})
			}
		}
	}
}

// Without a terminal, a program whose client is gone notices when it writes.
func TestClientLost(t *testing.T) {
	t.Parallel()
	asked, gone := make(chan struct{}), make(chan struct{})
	server := et.NewServer()
	server.Respond = func(et.Received) et.Reply {
		close(asked)
		<-gone
		return et.Streams(et.Text(500_000), "more")
	}
	c := pt.Terminal(t, server, "-p", "tell me much")
	ssh, code := pt.SshServer(t).Command(c, "-T")
	cmd := exec.Command(ssh.Path, ssh.Args...)
	cmd.Env = ssh.Env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	cmd.Process.Kill()
	cmd.Wait()
	close(gone)
	pt.CheckCode(t, code, 141)
}
