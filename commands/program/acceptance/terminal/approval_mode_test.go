package terminal

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// creates returns a reply that makes new files.
func creates(names ...string) et.Reply {
	var calls []*genai.FunctionCall
	for _, name := range names {
		calls = append(calls, et.Call(name, "write_file", "file_path", name, "content", "x\n"))
	}
	return et.Says("I make files.", calls...)
}

// The approval mode changes in a session, by a command and by Shift-Tab; the
// prompt shows it, and the next call is judged by it.
func TestModeInASession(t *testing.T) {
	t.Parallel()
	server := et.NewServer(creates("one"), et.Says("Denied."), creates("two"), et.Says("Made."))
	s := teletype.Start(t, pt.Terminal(t, server))
	s.Say("/mode")
	s.Expect("approval mode: default (edits and commands are asked about)\r\n> ")
	s.Line("/mode plan")
	s.Expect("approval mode: plan (nothing but plans is changed)\r\nplan> ")
	s.Line("go on")
	s.Expect("denied")
	s.Expect("Denied.")
	s.Expect("plan> ")
	s.Line("/mode automatic")
	s.Expect(`error: there is no approval mode "automatic"; there are: default, auto_edit, auto, plan and yolo`)
	s.Expect("plan> ")
	s.Line("/mode auto_edit")
	s.Expect("\r\nauto_edit> ")
	s.Line("go on")
	s.Expect("Made.")
	s.Expect("auto_edit> ")
	s.Line("/mode yolo")
	s.Expect("\r\nyolo> ")
	s.Line("/quit")
	s.Exit()
	if strings.Contains(string(s.Transcript()), pt.Asking) {
		t.Error("somebody was asked")
	}
}

func TestModeByShiftTab(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer())
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Send("hel")
	s.Expect("hel")
	for _, mode := range []string{"auto_edit", "auto", "plan"} {
		s.Send("\x1b[Z")
		s.Expect("approval mode: " + mode)
		s.Match(mode + `> (\x1b\S*)?hel`) // what was typed stays
	}
	s.Send("\x1b[Z")
	s.Expect("approval mode: default")
	s.Match(`\n(\x1b\S*)?> (\x1b\S*)?hel`)
	s.Send("\x03")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Smart: true})
}

// Yolo is not to be had where the settings forbid it.
func TestModeForbidden(t *testing.T) {
	t.Parallel()
	s := teletype.Start(t, pt.Configured(t, pt.Terminal(t, et.NewServer()), `{"security": {"disableYoloMode": true}}`))
	s.Say("/mode yolo")
	s.Expect("error: security.disableYoloMode in the settings forbids the approval mode yolo\r\n> ")
	s.Line("/quit")
	s.Exit()
}

// In a folder that is not trusted no mode is to be had in which something that
// is asked about otherwise runs unasked.
func TestModeUntrusted(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	cmd, _ := pt.Unknown(t, server, map[string]string{".gemini/settings.json": `{"model": {"name": "theirs"}}`})
	s := teletype.Start(t, cmd)
	s.Expect("Enter for not now: ")
	s.Line("")
	s.Expect("\n> ")
	for _, mode := range []string{"yolo", "auto_edit"} {
		s.Line("/mode " + mode)
		s.Expect("error: this folder is not trusted, so edits and commands are asked about; gemline trust add lets the next session use " + mode + "\r\n> ")
	}
	s.Line("/mode plan")
	s.Expect("approval mode: plan (nothing but plans is changed)\r\nplan> ")
	s.Line("/mode default")
	s.Expect("approval mode: default (edits and commands are asked about)\r\n> ")
	s.Line("/mode")
	s.Expect("approval mode: default")
	s.Expect("\n> ")
	s.Line("/quit")
	s.Exit()
}

// Plan mode has a command of its own, and what stands behind it is asked in
// that mode. It is left by the name of another one, which is the one in force
// then, whatever was before.
func TestPlan(t *testing.T) {
	t.Parallel()
	server := et.NewServer(creates("one"), et.Says("A plan."), creates("two"), et.Says("Refused."))
	c := pt.Terminal(t, server, "--approval-mode", "auto_edit")
	s := teletype.Start(t, c)
	s.Expect("auto_edit> ")
	s.Line("/plan make it faster")
	s.Expect("approval mode: plan (nothing but plans is changed)")
	s.Expect("denied")
	s.Expect("A plan.")
	s.Expect("plan> ")
	s.Line("/mode default")
	s.Expect("approval mode: default (edits and commands are asked about)\r\n> ")
	s.Line("go on")
	s.Expect("create two")
	s.Expect(pt.Asking)
	s.Line("n")
	s.Expect("\n> ")
	s.Line("/plan copy")
	s.Expect("there is no plan to copy yet; /plan TEXT asks for one\r\n> ")
	s.Line("/quit")
	s.Exit()
	if said := string(server.Requests()[0].Body); !strings.Contains(said, "make it faster") || strings.Contains(said, "/plan ") {
		t.Errorf("the model was asked %q", said)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "one")); err == nil {
		t.Error("plan mode has made a file")
	}
}

// Three new files are one question for who says so, and a protected one is
// another.
func TestAllEditsOfASession(t *testing.T) {
	t.Parallel()
	server := et.NewServer(creates("one", "two", "three"), et.Says("Made."), creates("GEMINI.md"), et.Says("Made it."))
	c := pt.Terminal(t, server)
	s := teletype.Start(t, c)
	s.Say("go on")
	s.Expect("permission: create one: 1 line added\r\n")
	s.Expect("b = all edits this session): ")
	s.Line("b")
	s.Expect("Made.")
	s.Say("go on")
	s.Expect("create GEMINI.md")
	s.Expect(pt.Asking)
	s.Line("n")
	s.Say("/quit")
	s.Exit()
	for _, name := range []string{"one", "two", "three"} {
		if _, err := os.Stat(filepath.Join(c.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(string(s.Transcript()), "permission:"); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// The recorded session of the demo fits on a screen when little is to be told,
// and no question takes more than three lines beside what is decided on.
func TestLinesOfASession(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	c := pt.Terminal(t, server, "--detail", "short", "--fake-responses", "")
	recording, err := filepath.Abs("docs/demo/recording.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c.Args[len(c.Args)-1] = recording
	if err := os.CopyFS(c.Dir, os.DirFS("docs/demo/project")); err != nil {
		t.Fatal(err)
	}
	pt.Confining(t, c)
	bin := filepath.Join(c.Dir, "bin") // the real one compiles for a minute
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho ok words\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	s := teletype.Start(t, c)
	s.Say("The test of this package fails. Find out why and mend it.")
	s.Match(`y n [^\r\n]*\?[^\r\n]*: $`)
	s.Line("y")
	s.Match(`y n [^\r\n]*\?[^\r\n]*: $`)
	s.Line("y")
	s.Expect("done:")
	s.Say("/quit")
	s.Expect("\r\n")
	text := strings.ReplaceAll(string(s.Transcript()), "\r\n", "\n")
	text, _, _ = strings.Cut(text, "> /quit\n")
	text = regexp.MustCompile(`(?m)^progress: .*\n`).ReplaceAllString(text, "") // as slow as the machine is
	if n := strings.Count(text, "\n"); n > 25 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	own := regexp.MustCompile(`(?m)^(info|permission|warning|tool): .*\n|^y n .*\n`).FindAllString(text, -1)
	if len(own) > 6+1 { // two questions, and the line that a session begins with
		t.Errorf("two questions take %d lines: %q", len(own), own)
	}
	s.Exit()
}
