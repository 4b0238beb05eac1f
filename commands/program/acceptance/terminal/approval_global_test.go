package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"

	pt "gemline/commands/program/acceptance/programtest"
)

// What is to hold in all projects the model may propose: the user sees the addition
// and is asked in every mode, also where the file is a link into a folder of theirs.
func TestAdditionForAllProjects(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"default", "auto_edit", "yolo"} {
		for _, linked := range []bool{false, true} {
			t.Run(mode+map[bool]string{true: ", a link"}[linked], func(t *testing.T) {
				t.Parallel()
				server := et.NewServer()
				c := pt.Terminal(t, server, "--approval-mode", mode)
				path := filepath.Join(pt.HomeOf(c), ".gemini", "GEMINI.md")
				file := path
				if linked {
					file = filepath.Join(pt.HomeOf(c), "dotfiles", "GEMINI.md")
				}
				pt.Write(t, filepath.Dir(file), map[string]string{"GEMINI.md": "Be brief.\n"})
				pt.Write(t, filepath.Dir(path), nil)
				if linked {
					if err := os.Symlink(file, path); err != nil {
						t.Fatal(err)
					}
				}
				edit := et.Says("", et.Call("", "replace", "file_path", path, "instruction", "keep it", "old_string", "Be brief.\n", "new_string", "Be brief.\nUse tabs.\n"))
				server.Add(edit, et.Says("Not kept."), edit, et.Says("Kept."))
				s := teletype.Start(t, c)
				s.Say("always use tabs")
				s.Expect("Use tabs.")
				s.Expect(pt.Asking)
				s.Line("n")
				s.Expect("Not kept.")
				s.Say("I do want it")
				s.Expect(pt.Asking)
				s.Line("y")
				s.Expect("Kept.")
				s.Say("/quit")
				s.Exit()
				if b, err := os.ReadFile(file); err != nil || string(b) != "Be brief.\nUse tabs.\n" {
					t.Errorf("the file holds %q, %v", b, err)
				}
				if strings.Contains(string(s.Transcript()), ", a always") {
					t.Errorf("always is offered:\n%s", s.Transcript())
				}
			})
		}
	}
}
