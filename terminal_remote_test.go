//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// A session in a tmux that its user has left with a question open is answered over ssh, and
// goes on.
func TestLeftInTmuxAnsweredOverSSH(t *testing.T) {
	t.Parallel()
	need(t, "tmux")
	server := et.NewServer(removes("1"), et.Says("It is gone."), et.Says("Here I am."))
	c := terminal(t, server, "--sandbox=off")
	d := sshServer(t)
	m := teletype.StartTmux(t, c)
	client := m.Look(t)
	m.ExpectEnd("\n> ")
	client.Line("remove the notes")
	client.Expect("run: rm notes.txt")
	m.ExpectEnd("always this command): ")
	client.HangUp() // as a laptop that is shut
	client.Exit()

	ssh, code := d.command(attaches(c), "-tt")
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
	checkCode(t, code, 0)
	s.Exit()

	m.Expect("It is gone.")
	m.Send("are you there?")
	m.Key("Enter")
	m.Expect("Here I am.")
	m.Send("/quit")
	m.Key("Enter")
	m.End()
}
