//go:build unix

package terminal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// atTerminal runs test on the terminals of plain and of smart mode, against a
// server that answers once.
func atTerminal(t *testing.T, test func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string)) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(et.Says("I see."))
			c := pt.Terminal(t, server)
			c.Term = term
			c.Env = append(c.Env, "MY_TOKEN=a-secret-of-mine-9")
			s := teletype.Start(t, c)
			s.Expect("> ")
			test(t, s, c, func() string {
				s.Line("what was that?")
				s.Expect("I see.")
				s.Say("/quit")
				pt.Succeeds(t, s)
				var all bytes.Buffer
				for _, r := range server.Requests() {
					all.Write(r.Body)
				}
				return all.String()
			})
		})
	}
}

// The user's own command reads what is typed, seen and unseen, and the model
// learns what was printed.
func TestOwnCommandReads(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		s.Line("!read -p 'name: ' x; echo got-$x")
		s.Match(`like\s+secrets:\s+MY_TOKEN;`)
		s.Match(`[\n\\]name: `)
		s.Line("Adx\x7fa")
		s.Expect("got-Ada")
		s.Say("!read -s -p 'Password: ' x </dev/tty; echo; echo ${#x} characters; tty")
		s.Match(`[\n\\]Password: `)
		s.Line("hidden-word")
		s.Expect("11 characters")
		s.Expect("/dev/pts/")
		s.Say("!printf '\\033[31mred\\033[0m\\n'; echo term=$TERM token=$MY_TOKEN key=$GEMINI_API_KEY")
		s.Expect("term=" + c.Term + " token= key=\r\n")
		s.Expect("> ")
		body := requests()
		for _, want := range []string{`name: Ada\ngot-Ada\n`, "11 characters", `\nred\nterm=`} {
			if !strings.Contains(body, want) {
				t.Errorf("the model does not learn %q: %s", want, body)
			}
		}
		if text := string(s.Transcript()); strings.Contains(text+body, "hidden-word") || !strings.Contains(text, "\x1b[31mred") {
			t.Error("the password is shown, or the colour is not")
		}
	})
}

// Ctrl-C and Ctrl-Z are the command's, and so is the size of the terminal; the
// prompt comes back, with what was typed ahead.
func TestOwnCommandHasTheTerminal(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		s.Line("!trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done")
		s.Expect("ready\r\n")
		s.Send("\x1a") // nobody could let it go on
		s.Send("\x03")
		s.Expect("caught\r\n")
		s.Expect(" Command exited with code 3.\r\n")
		s.Say("!stty size; trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.1; done")
		s.Expect("24 80\r\nready\r\n")
		s.Resize(30, 100)
		s.Expect("30 100\r\n")
		s.Say("!stty raw -echo; printf 'ends in the middle'")
		s.Expect("ends in the middle\r\n")
		s.Say("!touch begun; echo ready; until [ -e go ]; do sleep 0.05; done")
		s.Expect("ready\r\n")
		s.Send("typed ahea")
		if err := os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.Expect("typed ahea") // as the command's terminal shows it
		s.Expect("> ")
		s.Expect("typed ahea")
		s.Line("d")
		s.Expect("I see.")
		s.Say("/quit")
		pt.Succeeds(t, s)
	})
}

// Ctrl-C ends a command that has stopped itself, too.
func TestOwnCommandStopsItself(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		s.Line("!echo pid=$$; kill -STOP $$")
		s.Match(`pid=\d+\r\n`)
		s.Send("\x03")
		s.Expect("terminated by signal: SIGINT")
		s.Expect("> ")
		requests()
	})
}

// An editor has the whole screen, and the session goes on behind it.
func TestOwnEditor(t *testing.T) {
	vi := pt.Need(t, "vi")
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		s.Line("!TERM=xterm " + vi + " letter.txt; echo left")
		s.Expect("\x1b[?1049h")
		s.Expect("letter.txt")
		s.Send("iDear reader\x1b:wq\r")
		s.Expect("left\r\n")
		s.Expect("> ")
		if b, _ := os.ReadFile(filepath.Join(c.Dir, "letter.txt")); string(b) != "Dear reader\n" {
			t.Errorf("the letter is %q", b)
		}
		body := requests()
		if !strings.Contains(body, `\nleft\n`) || strings.Contains(body, "Dear reader") || strings.Contains(body, `\u001b`) {
			t.Errorf("the model learns what was on the editor's screen: %s", body)
		}
	})
}

// What a command leaves in the background goes on, as it would from a shell.
func TestOwnCommandInTheBackground(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		s.Line("!(until [ -e go ]; do sleep 0.05; done; touch went) & echo started")
		s.Expect("started\r\n")
		s.Expect("> ")
		if err := os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.Line("!until [ -e went ]; do sleep 0.05; done; echo it-went")
		s.Expect("it-went\r\n")
		s.Expect("> ")
		requests()
	})
}

// A change of the directory says that it is none.
func TestOwnCommandElsewhere(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		s.Line("!cd /tmp")
		s.Expect(" changing the directory has no effect")
		s.Expect("/directory add DIR")
		s.Say("!cd /tmp && pwd")
		s.Expect("/tmp\r\n")
		s.Expect("> ")
		requests()
	})
}

// askpass is a program that asks for a password on the terminal, as sudo does,
// wherever its standard streams lead.
const askpass = `#!/bin/sh
trap "" ${DEAF:-USR1}
exec 3<>/dev/tty
saved=$(stty -g <&3)
stty -echo <&3
printf 'Password for %s: ' "$1" >&3
read -r x <&3
stty "$saved" <&3
echo >&3
echo "${#x} characters"
`

func TestOwnCommandAsksForAPassword(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *teletype.Session, c teletype.Command, requests func() string) {
		script(t, filepath.Join(c.Dir, "asks"), askpass)
		for _, line := range []string{"!./asks Ada", "!echo x | ./asks Ada | cat", "!./asks Ada </dev/null 2>&1"} {
			s.Line(line)
			s.Expect("Password for Ada: ")
			s.Line("hidden-word")
			s.Expect("\r\n11 characters\r\n")
			s.Expect("> ")
		}
		if body := requests(); strings.Contains(string(s.Transcript())+body, "hidden-word") || !strings.Contains(body, "11 characters") {
			t.Error("the password is shown, or what follows it is not")
		}
	})
}

// A signal that ends the program while a command has the terminal leaves that as
// it was, and nobody behind who would read from it.
func TestSignalDuringOwnCommand(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			for _, deaf := range []string{"USR1", "TERM HUP"} {
				t.Run(term+" "+sig.String()+" "+deaf, func(t *testing.T) {
					c := pt.Terminal(t, et.NewServer())
					c.Term, c.Env = term, append(c.Env, "DEAF="+deaf)
					script(t, filepath.Join(c.Dir, "asks"), askpass)
					c.Args = append([]string{"-c", `stty -a >before
						sh -c 'echo $$ >pid; exec "$@"' sh "$@"
						echo "ended with $?"
						stty -a >after; cmp before after && echo as before`, "sh", c.Path}, c.Args...)
					c.Path = pt.Need(t, "sh")
					s := teletype.Start(t, c)
					s.Say("!./asks Ada")
					s.Expect("Password for Ada: ")
					pid, err := os.ReadFile(filepath.Join(c.Dir, "pid"))
					if err != nil {
						t.Fatal(err)
					}
					n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
					if err != nil {
						t.Fatal(err)
					}
					syscall.Kill(n, sig)
					s.Expect(fmt.Sprintf("ended with %d\r\n", 128+int(sig)))
					s.Expect("as before\r\n")
				})
			}
		}
	}
}

// script makes a program of text.
func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
