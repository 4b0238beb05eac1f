//go:build unix

package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// planOf returns the text of the one plan of a session.
func planOf(t *testing.T, c teletype.Command) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(pt.HomeOf(c), ".gemini", "tmp", "*", "*", "plans", "*.md"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: the plans are %q", err, found)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A plan that the model wants to make first: asked for, written, sent back with words,
// edited, approved for another mode, carried out there, shown and there again when the
// session is resumed.
func TestPlanAtATerminal(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(
				et.Says("", et.Call("1", "enter_plan_mode", "reason", "it is\nlarge")),
				et.Says("", et.Call("2", "write_file", "file_path", "plan.md", "content", "# Aim\n- mend greeting.txt\n"),
					et.Call("3", "write_file", "file_path", "greeting.txt", "content", "x"),
					et.Call("4", "run_shell_command", "command", "touch made")),
				et.Says("", et.Call("5", "exit_plan_mode", "plan_filename", "plan.md")),
				et.Says("", et.Call("6", "replace", "file_path", "plan.md", "instruction", "as the user says", "old_string", "mend greeting.txt", "new_string", "mend it\x1b[31m gently")),
				et.Says("", et.Call("7", "exit_plan_mode", "plan_filename", "plan.md")),
				et.Says("", et.Call("8", "write_file", "file_path", "greeting.txt", "content", "Hello, world.\n")),
				et.Says("Mended."))
			c := pt.Terminal(t, server)
			script := filepath.Join(t.TempDir(), "ed")
			if err := os.WriteFile(script, []byte("#!/bin/sh\necho and test it >>\"$1\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			c.Term, c.Env = term, append(c.Env, "EDITOR="+script)
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Line("mend it")
			s.Expect(" change to plan mode: it is large")
			s.Expect("y n ?: ")
			s.Line("y")
			s.Expect("proposed plan, 2 lines:")
			s.Expect("- mend greeting.txt")
			s.Expect(" carry out plan.md in default: edits and commands are asked about")
			s.Expect("(a = carry it out in auto_edit, a2 = carry it out in auto): ")
			s.Line("?")
			s.Expect("y or yes = the plan is approved and carried out in default\r\n")
			s.Expect("and revises the plan\r\n")
			s.Expect("a = carry it out in auto_edit\r\n")
			if kept := s.Expect("n a a2 e ?: "); strings.Contains(kept, "[[rule]]") {
				t.Errorf("a rule is offered: %s", kept)
			}
			s.Line("n because it must be gentle")
			s.Expect(" not approved\r\n")
			s.Expect(`- mend it\x1b[31m gently`)
			s.Expect("in auto): ")
			s.Line("e")
			s.Expect("proposed plan, 3 lines:")
			s.Expect("and test it")
			s.Expect("in auto): ")
			s.Line("a")
			s.Expect("plan mode is over; approval mode: auto_edit (edits run without a question")
			s.Expect("Mended.")
			s.Expect("auto_edit> ")
			s.Line("/plan")
			s.Expect("plan (approved):")
			s.Expect("and test it")
			s.Expect("plan> ")
			s.Line("/quit")
			s.Exit()
			if got, want := planOf(t, c), "# Aim\n- mend it\x1b[31m gently\nand test it\n"; got != want {
				t.Errorf("the plan is %q, want %q", got, want)
			}
			if b, _ := os.ReadFile(filepath.Join(c.Dir, "greeting.txt")); string(b) != "Hello, world.\n" {
				t.Errorf("the greeting is %q", b)
			}
			if _, err := os.Lstat(filepath.Join(c.Dir, "made")); err == nil {
				t.Error("a command wrote in plan mode")
			}
			requests := server.Requests()
			for i, want := range map[int]string{4: "Plan rejected. User feedback: it must be gentle", 6: "strictly during implementation. The user has changed it."} {
				if !strings.Contains(string(requests[i-1].Body), want) {
					t.Errorf("request %d does not say %q", i, want)
				}
			}
			server.Add(et.Says("Going on."))
			c.Args = append(c.Args, "--resume")
			s = teletype.Start(t, c)
			s.Expect("there is a plan (approved); /plan shows it")
			s.Expect("> ")
			s.Line("go on")
			s.Expect("Going on.")
			s.Expect("> ")
			s.Line("/quit")
			s.Exit()
			if last := server.Requests(); !strings.Contains(string(last[len(last)-1].Body), "The user has approved of the plan in ") {
				t.Error("the model is not told of the plan")
			}
		})
	}
}

// Whoever goes from yolo to plan mode is back there when the plan is approved.
func TestPlanFromYolo(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "plan.md", "content", "1. Do it.\n")), et.Says("", et.Call("2", "exit_plan_mode", "plan_filename", "plan.md")), et.Says("On it."))
	s := teletype.Start(t, pt.Terminal(t, server, "-y"))
	s.Expect("yolo> ")
	s.Line("/plan do it")
	s.Expect("carry out plan.md in yolo: everything runs without a question")
	s.Expect("a = carry it out in default")
	s.Expect(": ")
	s.Line("y")
	s.Expect("On it.")
	s.Expect("yolo> ")
	s.Line("/quit")
	pt.Succeeds(t, s)
}
