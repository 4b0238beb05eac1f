package terminal

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Far from the desktop, /copy goes through the terminal, and says how much.
func TestCopyByTheTerminal(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer(et.Says("Copy me.")))
	c.Term, c.Env = "xterm", append(c.Env, "SSH_CONNECTION=::1 1 ::1 22")
	s := teletype.Start(t, c)
	s.Say("go")
	s.Expect("done:")
	s.Say("/copy")
	s.Expect("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("Copy me.")) + "\a")
	s.Expect("copied 8 bytes by the terminal")
	s.Say("/quit")
	s.Exit()
}

// In tmux /copy fills the buffer from which tmux pastes, also behind screen in it,
// which shows nothing of that.
func TestCopyInTmux(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"tmux", "screen in tmux"} {
		t.Run(in, func(t *testing.T) {
			c := pt.Terminal(t, et.NewServer(et.Says("Copy me.")))
			if in == "screen in tmux" {
				path := pt.Need(t, "screen")
				c.Env = append(c.Env, "SCREENDIR="+teletype.SocketDir(t), "TERM=screen")
				c.Path, c.Args = path, append([]string{"-c", os.DevNull, c.Path}, c.Args...)
			}
			m := teletype.StartTmux(t, c)
			m.ExpectEnd("> ")
			m.Send("go")
			m.Key("Enter")
			m.Expect("done:")
			m.ExpectEnd("> ")
			m.Send("/copy")
			m.Key("Enter")
			m.Expect("copied 8 bytes to the tmux buffer")
			screen := m.ExpectEnd("> ")
			if got := m.Buffer(); got != "Copy me." {
				t.Errorf("the buffer holds %q", got)
			}
			if strings.Contains(screen, "52;c") || strings.Contains(screen, "tmux;") || strings.Contains(screen, "Q29weSBtZS4") {
				t.Errorf("it is on the screen:\n%s", screen)
			}
			m.Send("/quit")
			m.Key("Enter")
			m.End()
		})
	}
}
