//go:build unix

package servers

import (
	"os"
	"path/filepath"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A session in a tmux that its user has left with a question open is answered over ssh, and
// goes on.
func TestLeftInTmuxAnsweredOverSSH(t *testing.T) {
	t.Parallel()
	pt.Need(t, "tmux")
	server := et.NewServer(pt.Removes("1"), et.Says("It is gone."), et.Says("Here I am."))
	c := pt.Terminal(t, server, "--sandbox=off")
	d := pt.SshServer(t)
	m := teletype.StartTmux(t, c)
	client := m.Look(t)
	m.ExpectEnd("\n> ")
	client.Line("remove the notes")
	client.Expect("run: rm notes.txt")
	m.ExpectEnd("always this command): ")
	client.HangUp() // as a laptop that is shut
	client.Exit()

	ssh, code := d.Command(pt.Attaches(c), "-tt")
	s := teletype.Start(t, ssh)
	s.Match(`y n [^\r\n]*: $`)
	s.Line("y")
	s.Expect("It is gone.")
	s.Expect("> ")
	if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err == nil {
		t.Error("nothing was removed")
	}
	s.Send("\x04")
	s.Expect("detached; the session goes on")
	pt.CheckCode(t, code, 0)
	s.Exit()

	m.Expect("It is gone.")
	m.Send("are you there?")
	m.Key("Enter")
	m.Expect("Here I am.")
	m.Send("/quit")
	m.Key("Enter")
	m.End()
}

// A question that comes up behind a connection that was cut is answered over another one,
// where the settings have the session go on.
func TestCutOffAnsweredOverSSH(t *testing.T) {
	t.Parallel()
	for how, cut := range pt.Cuts {
		for _, term := range pt.Terminals {
			t.Run(how+"/"+term, func(t *testing.T) {
				t.Parallel()
				first, g := pt.Gated(pt.Removes("1"))
				server := et.NewServer(first, et.Says("It is gone."))
				c := pt.Configured(t, pt.Terminal(t, server, "--sandbox=off"), `{"general": {"onHangup": "detach"}}`)
				c.Term = term
				d := pt.SshServer(t)
				ssh, code := d.Command(c, "-tt")
				s := teletype.Start(t, ssh)
				s.Say("remove the notes")
				<-g.Asked
				cut(s, d)
				close(g.Open)
				again, left := d.Command(pt.Attaches(c), "-tt")
				a := teletype.Start(t, again)
				a.Match(`y n [^\r\n]*: $`)
				a.Line("y")
				a.Expect("It is gone.")
				a.Expect("> ")
				if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err == nil {
					t.Error("nothing was removed")
				}
				a.Line("/quit")
				a.Expect("the session has ended")
				pt.CheckCode(t, left, 0)
				pt.CheckCode(t, code, 0)
				a.Exit()
			})
		}
	}
}
