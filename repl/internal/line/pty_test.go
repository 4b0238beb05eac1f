package line

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gemline/commands/program/acceptance/teletype"
)

// What is typed while the program works shows up once, behind the prompt, as
// whole lines and as the half of one that can be gone on with.
func TestTypedWhileBusy(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := start(t, kind, "LINE_READY="+ready.Addr)
			s.Expect("> ")
			s.Line("busy")
			s.Expect("working\r\n")
			s.Send("one\rtwo\rhal")
			ready.Open()
			before := s.Expect("worked")
			if strings.Contains(before, "one") {
				t.Errorf("it was shown at once: %q", before)
			}
			s.Expect("> one\r\n")
			s.Expect("got \"one\"\r\n")
			s.Expect("> two\r\n")
			s.Expect("got \"two\"\r\n")
			s.Expect("> hal")
			s.Send("x\x7f")
			s.Expect("x\b \b")
			s.Line("f")
			s.Expect(`got "half"`)
			s.Expect("> ")
			s.Line("next")
			s.Expect("next\r\n")
			s.Expect(`got "next"`)
		})
	}
}

// A line that was begun is gone on with, and can be taken back as a whole.
func TestHalf(t *testing.T) {
	tests := []struct{ name, typed, then, want string }{
		{"continued", "ab", "c\r", `got "abc"`},
		{"rubbed out as far as it is the terminal's", "日本", "xy\x7f\x7f\x7f\x7fz\r", `got "日本z"`},
		{"interrupted", "ab", "\x03", "info: interrupted"},
		{"more lines at once", "ab", "c\rd\r", `got "d"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ready := teletype.NewLatch(t)
			s := start(t, "plain", "LINE_READY="+ready.Addr)
			s.Expect("> ")
			s.Line("busy")
			s.Expect("working\r\n")
			s.Send(tt.typed)
			ready.Open()
			s.Expect("> " + tt.typed)
			s.Send(tt.then)
			s.Expect(tt.want)
			s.Expect("> ")
			s.Line("end")
			s.Expect("end\r\n") // the terminal shows again what is typed
			s.Expect(`got "end"`)
			if faults := teletype.Lint(s.Transcript(), teletype.Rules{}); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

// Ctrl-D that was typed ahead ends the input when its turn comes.
func TestEndTypedWhileBusy(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := start(t, kind, "LINE_READY="+ready.Addr)
			s.Expect("> ")
			s.Line("busy")
			s.Expect("working\r\n")
			s.Send("one\r\x04")
			ready.Open()
			s.Expect(`got "one"`)
			s.Expect("EOF")
			s.Exit()
		})
	}
}

func TestSecret(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t, kind)
			s.Expect("> ")
			s.Line("secret")
			s.Expect("API key: ")
			s.Send("hid\x7fden\r")
			if got := s.Expect(`secret "hiden", <nil>`); strings.Contains(strings.TrimSuffix(got, `secret "hiden", <nil>`), "d") {
				t.Errorf("it was shown: %q", got)
			}
			s.Expect("> ")
			s.Line("secret")
			s.Expect("API key: ")
			s.Send("half\x03")
			s.Expect(`secret "", interrupted`)
			s.Expect("> ")
			s.Line("shown")
			s.Expect("shown")
			s.Expect(`got "shown"`)
			s.Expect("> ")
			s.Line("secret")
			s.Expect("API key: ")
			s.Send("\x04")
			s.Expect(`secret "", EOF`)
		})
	}
}

// Strangers may have written a question: what of it can't be seen is escaped.
func TestStrangeQuestion(t *testing.T) {
	for _, kind := range []string{"plain", "smart", "limited"} {
		s := start(t, kind)
		s.Expect("> ")
		s.Line("strange")
		s.Expect(`d\x1b[2Jx: `)
		s.Send("y\r")
		s.Expect(`answer "y", <nil>`)
	}
}

// What is shown meanwhile waits for Enter, unless nothing is typed behind a prompt that can
// be shown again. It does not come with the answer to a question.
func TestShow(t *testing.T) {
	for _, kind := range kinds {
		for _, typed := range []string{"", "half"} {
			t.Run(kind+typed, func(t *testing.T) {
				ready, done := teletype.NewLatch(t), teletype.NewLatch(t)
				s := start(t, kind, "LINE_READY="+ready.Addr, "LINE_DONE="+done.Addr)
				s.Expect("> ")
				s.Line("news")
				s.Expect("> ")
				s.Send(typed)
				s.Expect(typed)
				ready.Open()
				done.Open()
				if kind != "plain" && typed == "" {
					s.Expect("\r\ninfo: news\r\n> ")
				}
				s.Line(" way")
				if kind == "plain" || typed != "" {
					s.Expect(" way\r\ninfo: news\r\n")
				}
				s.Expect(`got "` + typed + ` way"`)
				if n := bytes.Count(s.Transcript(), []byte("info: news")); n != 1 {
					t.Errorf("shown %d times", n)
				}
			})
		}
		t.Run(kind+"question", func(t *testing.T) {
			s := start(t, kind)
			s.Expect("> ")
			s.Line("news and ask")
			s.Expect("sure: ")
			s.Line("y")
			s.Expect(`answer "y", <nil>`)
			s.Expect("info: news\r\n")
			s.Expect("> ")
			if before, _, _ := bytes.Cut(s.Transcript(), []byte("answer")); bytes.Contains(before, []byte("info: news")) {
				t.Error("it comes with the question")
			}
		})
	}
}

func TestTheUsersEditor(t *testing.T) {
	t.Run("by a key", func(t *testing.T) {
		s := start(t, "smart")
		s.Expect("> ")
		s.Send("some \x18\x05")
		s.Expect(`editing prompt.md: "some ": `)
		s.Send("text\r")
		s.Expect("text\r\n") // the terminal's own echo
		s.Expect("> some +text")
		s.Line("!")
		s.Expect(`got "some +text!"`)
		s.Expect("> ")
		s.Send("fail\x18\x05")
		s.Expect("error: the editor failed\r\n")
		s.Expect("> fail")
		s.Line("ed")
		s.Expect(`got "failed"`)
	})
	for _, kind := range kinds {
		t.Run("by a word, "+kind, func(t *testing.T) {
			s := start(t, kind)
			s.Expect("> ")
			s.Line("one\\")
			s.Expect("... ")
			s.Line("/editor")
			s.Expect(`editing prompt.md: "one\n": `)
			s.Line("two")
			s.Expect("one\r\n+two\r\n")
			s.Expect(`got "one\n+two"`)
			s.Expect("> ")
			s.Line("/editor fail")
			s.Expect("error: the editor failed")
			s.Expect("info: line cleared")
			s.Expect("> ")
			s.Line("/editorial")
			s.Expect(`got "/editorial"`)
		})
	}
}

// A list stands below the line, which is shown once more.
func TestList(t *testing.T) {
	s := start(t, "smart")
	s.Expect("> ")
	s.Send("al\t")
	s.Expect("alpha")
	s.Send("\t")
	s.Expect("\r\nalpha\r\nalphabet\r\nalphanumeric\r\n> alpha")
	s.Line("b\t")
	s.Expect(`got "alphab`)
}

func TestListed(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprint(i))
	}
	for rows, want := range map[int]int{0: mostListed, 24: 21, 3: 3, 200: mostListed} {
		got := listed(all, rows)
		if last := fmt.Sprintf("and %d more", 100-want+1); len(got) != want || got[want-1] != last {
			t.Errorf("%d rows: %d lines, the last is %q, want %d, %q", rows, len(got), got[len(got)-1], want, last)
		}
	}
	if got := listed(all[:3], 24); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// shell starts a shell with job control and the program in it.
func shell(t *testing.T, kind string, env ...string) *teletype.Session {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := teletype.Start(t, teletype.Command{Path: bash, Args: []string{"--norc", "--noprofile", "--noediting", "-i"}, Term: "xterm",
		Env: append(env, "PATH="+os.Getenv("PATH"), "PS1=shell$ ", "LINE_PROGRAM="+kind, "PROGRAM="+exe)})
	s.Expect("shell$ ")
	s.Line(`"$PROGRAM"`)
	s.Expect("> ")
	return s
}

// Ctrl-Z stops the program and nothing else, and it goes on where it was.
func TestStop(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := shell(t, kind)
			s.Send("half")
			s.Expect("half")
			s.Send("\x1a")
			s.Expect("Stopped")
			s.Expect("shell$ ")
			s.Line("stty -a; fg")
			got := s.Expect("\r\n\"$PROGRAM\"\r\n")
			for _, mode := range []string{" icanon", " echo "} {
				if !strings.Contains(got, mode) {
					t.Errorf("the shell's terminal is not%s", mode)
				}
			}
			s.Expect("> ")
			if kind != "plain" {
				s.Expect("half")
				s.Line(" way")
				s.Expect(`got "half way"`)
			} else { // the terminal has dropped what was typed
				s.Line("whole")
				s.Expect(`got "whole"`)
			}
			s.Expect("> ")
			s.Send("\x04")
			s.Expect("EOF")
			s.Expect("shell$ ")
		})
	}
}

// Every Ctrl-Z stops the program, also the one that follows a stop at the
// prompt.
func TestStopAgain(t *testing.T) {
	for range 8 { // it depended on the order in which signals came
		s := shell(t, "smart")
		s.Send("half")
		s.Expect("half")
		s.Send("\x1a")
		s.Expect("Stopped")
		s.Expect("shell$ ")
		s.Line("fg")
		s.Expect("> ")
		s.Expect("half")
		s.Line("\x15stopped")
		s.Expect("working")
		s.Send("\x1a")
		s.Expect("Stopped")
		s.Expect("shell$ ")
		s.Line("kill %1; fg") // it heeds no hang-up
		s.Expect("PROGRAM\"\r\n")
		s.Expect("shell$ ")
	}
}

// A stop while the program works leaves the shell a terminal that echoes.
func TestStopWhileBusy(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := shell(t, kind, "LINE_READY="+ready.Addr)
			s.Line("busy")
			s.Expect("working")
			s.Send("\x1a")
			s.Expect("Stopped")
			s.Expect("shell$ ")
			s.Line("stty -a | tr ' ' '\\n' | grep -e 'echo$'")
			s.Expect("\r\necho\r\n")
			s.Expect("shell$ ")
			s.Line("fg")
			s.Expect("PROGRAM")
			s.Send("typed")
			ready.Open()
			s.Expect("worked")
			s.Expect("> typed")
			s.Line(" ahead")
			s.Expect(`got "typed ahead"`)
		})
	}
}

// In the background, the program works on, and waits when it wants to read.
func TestBackground(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := shell(t, kind, "LINE_READY="+ready.Addr)
			s.Line("busy")
			s.Expect("working")
			s.Send("\x1a")
			s.Expect("Stopped")
			s.Expect("shell$ ")
			s.Line("bg; echo in the back'ground'")
			s.Expect("in the background")
			ready.Open()
			s.Expect("worked")
			s.Line("wait %1; fg")
			s.Expect("fg\r\n")
			s.Expect("PROGRAM")
			s.Expect("> ")
			s.Line("front")
			s.Expect(`got "front"`)
		})
	}
}

// A program that is begun in the background shows one prompt when it comes to
// the front.
func TestBegunInTheBackground(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := shell(t, kind)
			for range 5 {
				s.Send("\x04")
				s.Expect("EOF")
				s.Expect("shell$ ")
				s.Line(`stty -echo; "$PROGRAM" & until [[ $(jobs) == *Stopped* ]]; do :; done; stty echo; echo not'iced'`)
				s.Expect("noticed\r\n")
				s.Expect("shell$ ")
				s.Line("fg")
				s.Expect("PROGRAM\"\r\n")
				s.Expect("> ")
				s.Line("front")
				if between := s.Expect(`got "front"`); strings.Contains(between, "> ") || !strings.Contains(between, "front") {
					t.Errorf("a second prompt, or no echo: %q", between)
				}
				s.Expect("> ")
			}
		})
	}
}

// A program that is ended in the middle leaves the terminal as it was.
func TestRestore(t *testing.T) {
	for _, kind := range kinds {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, " busy=", busy), func(t *testing.T) {
				s := shell(t, kind)
				if busy {
					s.Line("stopped")
					s.Expect("working")
				}
				s.Send("\x1a")
				s.Expect("shell$ ")
				s.Line("kill %1; fg; stty -a | tr ' ' '\\n' | grep -e 'echo$' -e 'icanon$'")
				s.Expect("icanon\r\necho\r\n")
			})
		}
	}
}

func TestInterruptWhileBusy(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t, kind)
			s.Expect("> ")
			s.Line("stopped")
			s.Expect("working\r\n")
			s.Send("\x03")
			if got := s.Expect("stopped"); got != "info: stopped" {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestVanishedTerminal(t *testing.T) {
	for _, kind := range kinds {
		for _, moment := range []string{"reading", "asking", "secret", "busy", "half"} {
			t.Run(kind+" "+moment, func(t *testing.T) {
				t.Parallel()
				ready := teletype.NewLatch(t)
				s := start(t, kind, "LINE_READY="+ready.Addr)
				s.Expect("> ")
				switch moment {
				case "asking":
					s.Line("ask")
					ready.Open()
					s.Expect("sure: ")
				case "secret":
					s.Line("secret")
					s.Expect("API key: ")
				case "busy":
					s.Line("busy")
					s.Expect("working")
				case "half":
					s.Line("busy")
					s.Expect("working")
					s.Send("half")
					ready.Open()
					s.Expect("> half")
				}
				s.HangUp()
				if moment == "busy" {
					ready.Open()
				}
				if code := s.Exit(); code != 0 {
					t.Errorf("exit %d", code)
				}
			})
		}
	}
}

// Pastes of any size are one input, soon.
func TestLargePaste(t *testing.T) {
	for _, size := range []int{100 << 10, 2 << 20} {
		s := start(t, "smart")
		s.Expect("> ")
		began := time.Now()
		text := strings.Repeat("a line of words\n", size/16)
		go func() { s.Send("\x1b[200~" + text + "\x1b[201~") }()
		s.Expect(fmt.Sprintf("[paste 1: %d lines, %d characters]", size/16, size))
		t.Logf("%d bytes: %v", size, time.Since(began))
		if n := len(s.Transcript()); n > 1000 {
			t.Errorf("%d bytes were written", n)
		}
		s.Line("")
		s.Expect(`got "a line of words\na`)
	}
}
