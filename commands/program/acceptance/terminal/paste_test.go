//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// What is pasted is one request, on whatever terminal; what is typed, however
// fast, is one a line.
func TestPaste(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name, term string
		env        []string
		args       []string
		plain      bool
	}{
		{name: "dumb", term: "dumb", plain: true},
		{name: "accessible", term: "xterm", env: []string{"ACCESSIBLE=1"}, plain: true},
		{name: "Emacs", term: "dumb", env: []string{"INSIDE_EMACS=29.1,comint"}, plain: true},
		{name: "smart", term: "xterm"},
		{name: "smart, unmarked", term: "xterm"},
	} {
		for _, n := range []int{2, 5, 500} {
			t.Run(fmt.Sprint(kind.name, " ", n), func(t *testing.T) {
				server := et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."), et.Says("Four."), et.Says("Five."))
				c := pt.Terminal(t, server, kind.args...)
				c.Term, c.Env = kind.term, append(c.Env, kind.env...)
				s := teletype.Start(t, c)
				s.Expect("> ")
				text := pt.Traceback(n)
				typed := strings.ReplaceAll(text, "\n", "\r")
				switch kind.name {
				case "smart":
					s.Send("\x1b[200~" + typed + "\x1b[201~\r")
				case "smart, unmarked":
					s.Send(typed)
					s.Expect(fmt.Sprintf("%d lines, ", n))
					s.Send("\r")
				default:
					s.Send(typed + "\r")
					s.Expect(fmt.Sprintf("info: %d lines pasted, sent as one", n))
				}
				s.Expect("One.")
				s.Expect("> ")
				for _, line := range []string{"Two.", "Three."} { // as fast as there is a prompt
					for _, key := range "typed\r" {
						s.Send(string(key))
					}
					s.Expect(line)
					s.Expect("> ")
				}
				pt.Leave(t, s, teletype.Rules{Smart: !kind.plain})
				pt.CheckPaste(t, server, text, "typed", "typed")
			})
		}
	}
}

// No file is looked for in what was pasted, but in what was typed beside it.
func TestPastedReferences(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."))
	c := pt.Terminal(t, server)
	c.Term = "xterm"
	pt.Write(t, c.Dir, map[string]string{"typed.txt": "text of typed.txt", "pasted.txt": "text of pasted.txt"})
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Send("@typed.txt \x1b[200~class A {\r@pasted.txt\r}\r\x1b[201~\r")
	s.Expect("One.")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Smart: true})
	got := string(pt.Streamed(server)[0].Body)
	if !strings.Contains(got, "text of typed.txt") || strings.Contains(got, "text of pasted.txt") || !strings.Contains(got, `A {\n@pasted.txt\n}`) {
		t.Errorf("sent %s", got)
	}
}

// Nor in lines that came together where the terminal marks no paste: at the prompt, in a
// block and behind a backslash. What is typed line by line in a block refers to files.
func TestUnmarkedPasteReferences(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name, term string
		env        []string
	}{{name: "dumb", term: "dumb"}, {"Emacs", "dumb", []string{"INSIDE_EMACS=29.1,comint"}}, {name: "vt100", term: "vt100"}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."))
			c := pt.Terminal(t, server)
			c.Term, c.Env = kind.term, append(c.Env, kind.env...)
			pt.Write(t, c.Dir, map[string]string{"typed.txt": "text of typed.txt", "pasted.txt": "text of pasted.txt"})
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Send("class A {\r@pasted.txt\r}\r")
			s.Expect("One.")
			s.Expect("> ")
			want := []bool{false}
			if kind.term == "dumb" {
				s.Line(`"""`)
				s.Expect(". ")
				s.Send("class A {\r@pasted.txt\r}\r")
				s.Expect("}")
				s.Line(`"""`)
				s.Expect("Two.")
				s.Expect("> ")
				s.Line(`"""`)
				s.Expect(". ")
				s.Line("see @typed.txt")
				s.Expect(". ")
				s.Line(`"""`)
				s.Expect("Three.")
				s.Expect("> ")
				want = append(want, false, true)
			}
			pt.Leave(t, s, teletype.Rules{Smart: kind.term != "dumb"})
			for i, r := range pt.Streamed(server) {
				body := string(r.Body)
				last := body[max(0, strings.LastIndex(body, `"role":"model"`)):]
				if strings.Contains(last, "text of pasted.txt") || strings.Contains(last, "text of typed.txt") != want[i] {
					t.Errorf("sent %d: %s", i+1, last[:min(len(last), 2000)])
				}
			}
		})
	}
}

// What was pasted or composed is no command, whatever it begins with and has in it.
func TestPastedCommands(t *testing.T) {
	t.Parallel()
	const text = "! compute the mean\ntouch made !{touch made}\nend"
	typed := strings.ReplaceAll(text, "\n", "\r")
	for _, kind := range []struct {
		name, term string
		enter      func(s *teletype.Session)
		want       string
	}{
		{"marked", "xterm", func(s *teletype.Session) { s.Send("\x1b[200~" + typed + "\x1b[201~\r") }, text},
		{"twice", "xterm", func(s *teletype.Session) {
			s.Send("\x1b[200~" + typed + "\x1b[201~ and \x1b[200~" + typed + "\x1b[201~\r")
		}, text + " and " + text},
		{"plain", "dumb", func(s *teletype.Session) { s.Send(typed + "\r") }, text},
		{"unmarked", "vt100", func(s *teletype.Session) { s.Send(typed + "\r") }, text},
		{"behind a backslash", "dumb", func(s *teletype.Session) {
			s.Line(`see \`)
			s.Expect(". ")
			s.Send(typed + "\r")
		}, "see \n" + text},
		{"a block", "dumb", func(s *teletype.Session) {
			for _, line := range []string{`"""`, "! touch made", "touch made"} {
				s.Line(line)
				s.Expect(". ")
			}
			s.Line(`"""`)
		}, "! touch made\ntouch made"},
		{"a block of one line", "dumb", func(s *teletype.Session) {
			for _, line := range []string{`"""`, "! touch made"} {
				s.Line(line)
				s.Expect(". ")
			}
			s.Line(`"""`)
		}, "! touch made"},
		{"an editor", "dumb", func(s *teletype.Session) { s.Line("/editor ! touch made") }, "! touch made"},
		{"an editor by a key", "xterm", func(s *teletype.Session) {
			s.Send("\x1b[200~! touch made\rtouch made\x1b[201~\x18\x05")
			s.Expect("touch made")
			s.Send("\r")
		}, "! touch made\ntouch made"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Says("One."))
			c := pt.Terminal(t, server, "--approval-mode", "yolo")
			c.Term, c.Env = kind.term, append(c.Env, "EDITOR=true")
			s := teletype.Start(t, c)
			s.Expect("> ")
			kind.enter(s)
			s.Expect("One.")
			s.Expect("> ")
			pt.Leave(t, s, teletype.Rules{Smart: kind.term != "dumb"})
			pt.CheckPaste(t, server, kind.want)
			if _, err := os.Stat(filepath.Join(c.Dir, "made")); err == nil {
				t.Error("a line of it ran")
			}
		})
	}
}

// Nor is a paste that the history brings back, but a pasted line is, as if it were typed.
func TestRecalledPaste(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."), et.Says("Two."))
	c := pt.Terminal(t, server, "--approval-mode", "yolo")
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Send("see \x1b[200~this !{touch made}\rend\x1b[201~\r")
	s.Expect("One.")
	s.Expect("> ")
	s.Send("\x1b[A\r")
	s.Expect("Two.")
	s.Expect("> ")
	if _, err := os.Stat(filepath.Join(c.Dir, "made")); err == nil {
		t.Error("a line of it ran")
	}
	s.Send("\x1b[200~!printf '%s%s' out put\r\x1b[201~\r")
	s.Expect("output")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Smart: true})
	const sent = "see this !{touch made}\nend"
	pt.CheckPaste(t, server, sent, sent)
}

// Nor are lines that were pasted during an answer, but a typed one is.
func TestPastedCommandsAhead(t *testing.T) {
	t.Parallel()
	first, g := pt.Gated(et.Says("One."))
	server := et.NewServer(first, et.Says("Two."), et.Says("Three."), et.Says("Four."))
	c := pt.Terminal(t, server)
	s := teletype.Start(t, c)
	s.Say("go on")
	<-g.Asked
	s.Send("program mean\r! touch made\rend\r")
	s.Expect("queued: end")
	close(g.Open)
	for _, answer := range []string{"Two.", "Three.", "Four."} {
		s.Expect(answer)
	}
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	pt.CheckPaste(t, server, "go on", "program mean", "! touch made", "end")
}

// A last line without an end is the prompt if Emacs's eshell pipes it, and else it is not lost in
// silence; the lines before it are sent.
func TestLastLineWithoutEnd(t *testing.T) {
	t.Parallel()
	const lost = "info: the last line was not sent, since Ctrl-D came before Enter"
	for _, tt := range []struct {
		name, emacs, before, text string
		says, sent                []string
	}{
		{"typed", "", "", "half", []string{lost}, nil},
		{"typed behind lines", "", "", "one\rtwo\rhalf", []string{lost, "2 lines pasted", "One."}, []string{"one\ntwo"}},
		{"a terminal in Emacs", "29.1,term:0.96", "", "half", []string{lost}, nil},
		{"piped by eshell", "29.1,eshell", "stty -echo; ", "whole", []string{"One."}, []string{"whole"}},
		{"lines piped by eshell", "29.1,eshell", "stty -echo; ", "one\rtwo", []string{"2 lines pasted", "One."}, []string{"one\ntwo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Says("One."))
			c := pt.Terminal(t, server)
			if c.Term = "dumb"; tt.emacs != "" {
				c.Env = append(c.Env, "INSIDE_EMACS="+tt.emacs)
			}
			c.Path, c.Args = "/bin/sh", append([]string{"-c", tt.before + `exec "$0" "$@"`, c.Path}, c.Args...)
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Send(tt.text + "\x04\x04")
			for _, text := range tt.says {
				s.Expect(text)
			}
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
			pt.CheckPaste(t, server, tt.sent...)
		})
	}
}

// Nor is a last line without an end that comes during an answer.
func TestLastLineWithoutEndAhead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, emacs, before, says, next string }{
		{"typed", "", "", "info: the last line was not sent", ""},
		{"typed unseen", "", "stty -echo; ", "info: the last line was not sent", ""},
		{"piped by eshell", "29.1,eshell", "stty -echo; ", "Three.", "half"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first, g := pt.Gated(et.Says("One."))
			server := et.NewServer(first, et.Says("Two."), et.Says("Three."))
			c := pt.Terminal(t, server)
			if c.Term = "dumb"; tt.emacs != "" {
				c.Env = append(c.Env, "INSIDE_EMACS="+tt.emacs)
			}
			c.Path, c.Args = "/bin/sh", append([]string{"-c", tt.before + `exec "$0" "$@"`, c.Path}, c.Args...)
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Send("begin\r")
			<-g.Asked
			s.Send("next\rhalf\x04\x04")
			s.Expect("queued: next")
			close(g.Open)
			s.Expect("Two.")
			s.Expect(tt.says)
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
			sent := []string{"begin", "next"}
			if tt.next != "" {
				sent = append(sent, tt.next)
			}
			pt.CheckPaste(t, server, sent...)
		})
	}
}

// Lines that come together are one request each with the prompts that are for
// programs, and by the setting.
func TestLinesThatAreNoPaste(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, settings string
		args           []string
	}{
		{"stable", "", []string{"--prompt-format", "stable"}},
		{"setting", `{"ui":{"pasteLines":"single"}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."))
			c := pt.Terminal(t, server, tt.args...)
			if tt.settings != "" {
				c = pt.Configured(t, c, tt.settings)
			}
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Send("first\rsecond\rthird\r")
			for _, answer := range []string{"One.", "Two.", "Three."} {
				s.Expect(answer)
			}
			s.Expect("> ")
			pt.Leave(t, s, teletype.Rules{Quiet: true})
			pt.CheckPaste(t, server, "first", "second", "third")
		})
	}
}

// expect sends lines at once: one request each with stable prompts.
func TestLinesOfExpect(t *testing.T) {
	t.Parallel()
	path := pt.Need(t, "expect")
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"stable", []string{"--prompt-format", "stable"}, []string{"first", "second"}},
		{"plain", nil, []string{"first\nsecond"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := et.NewServer(et.Says("One."), et.Says("Two."))
			c := pt.Terminal(t, server, tt.args...)
			cmd := exec.CommandContext(t.Context(), path, "-c", `
				set timeout 300
				eval spawn -noecho [split $env(COMMAND) "\n"]
				expect -re "> $"
				send "first\rsecond\r"
				expect `+[]string{"One.", "Two."}[len(tt.want)-1]+`
				expect -re "\n> $"
				send "/quit\r"
				expect eof
				exit [lindex [wait] 3]`)
			cmd.Dir = c.Dir
			cmd.Env = append(c.Env, "TERM=dumb", "COMMAND="+strings.Join(append([]string{c.Path}, c.Args...), "\n"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%q", err, out)
			}
			pt.CheckPaste(t, server, tt.want...)
		})
	}
}

// What is typed during an answer survives the Ctrl-C that stops it.
func TestTypedDuringAStoppedAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ term, shown, then, sent string }{
		{"dumb", "info: typed before the stop and not sent: and then", "next", "next"},
		{"xterm", "and then", " this", "and then this"},
	} {
		t.Run(tt.term, func(t *testing.T) {
			server := et.NewServer(et.Stalled(et.Streams("This takes ", "for ever. ")), et.Says("Two."))
			c := pt.Terminal(t, server)
			c.Term = tt.term
			s := teletype.Start(t, c)
			s.Say("go on")
			s.Expect("for ever.")
			s.Send("and then\x03")
			s.Expect("cancelled")
			s.Expect(tt.shown)
			s.Line(tt.then)
			s.Expect("Two.")
			s.Expect("> ")
			pt.Leave(t, s, teletype.Rules{Smart: tt.term == "xterm", Quiet: true})
			pt.CheckPaste(t, server, "go on", tt.sent)
		})
	}
}
