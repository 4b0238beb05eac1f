//go:build linux

package sessions

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// onFullDisk has the program run with its home on a disk without room, and what it kept
// copied to the directory kept in the end.
func onFullDisk(t *testing.T, c teletype.Command) teletype.Command {
	t.Helper()
	if err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt").Run(); err != nil {
		t.Skip(err)
	}
	home := pt.HomeOf(c)
	const script = `home=$1; shift; mount -t tmpfs -o size=512k none "$home" && { dd if=/dev/zero of="$home/fill" bs=1k 2>/dev/null; "$@"; code=$?; cp -a "$home/.gemini" ../kept; exit $code; }`
	c.Args = append([]string{"-rm", "sh", "-c", script, "sh", home, c.Path}, c.Args...)
	c.Path = "/usr/bin/unshare"
	return c
}

// An undo names the call that was not recorded, since the disk had no room for the files before
// it, takes back what was recorded, and fails.
func TestUnrecordedCall(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "rm big; echo changed >notes.txt")),
		et.Says("", et.Call("2", "write_file", "file_path", "new.txt", "content", "new")), et.Says("Done."))
	c := onFullDisk(t, pt.Terminal(t, server, "-y", "-p", "change it"))
	c.Args[3] = `home=$1; shift; mount -t tmpfs -o size=512k none "$home" && "$@" && "$1" undo --json; echo "code $?"; "$1" undo`
	big := make([]byte, 1<<20)
	for i, r := 0, et.Random(t, 1); i < len(big); i++ {
		big[i] = byte(r.Uint32())
	}
	pt.Write(t, c.Dir, map[string]string{"big": string(big)})
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	out, _ := cmd.CombinedOutput()
	for _, want := range []string{"what follows can't be taken back: the disk is full",
		`"a call that was not recorded: run: rm big; echo changed `, `notes.txt, since the disk is full"`, `/new.txt"`,
		"error: a call of this turn was not recorded, and what it changed stays", "code 1\n",
		"nothing was changed that could be taken back"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
}

// A session on a full disk says so once, and from which question on it lacks something; once
// there is room it is saved with all that was missing, that of its agents as well.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	edit := func(id, text string) et.Reply {
		return et.Says("", et.Call(id, "write_file", "file_path", "notes.txt", "content", text))
	}
	for _, room := range []bool{false, true} {
		t.Run(map[bool]string{false: "full", true: "room"}[room], func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(edit("1", "one"), et.Says("First."),
				et.Says("", et.Call("2", "invoke_agent", "agent_name", "generalist", "prompt", "look")),
				et.Says("Looked around.", et.Call("4", "complete_task", "result", "It is fine.")), et.Says("Second."),
				edit("3", "three"), et.Says("Third."))
			c := onFullDisk(t, pt.Terminal(t, server, "-y"))
			s := teletype.Start(t, c)
			s.Say("the first")
			s.Expect("First.")
			s.Say("the second")
			s.Expect("Second.")
			if room {
				s.Say(`!rm "$HOME/fill"`)
			}
			s.Say("the third")
			if room {
				s.Expect("this session is saved again, and nothing of it is missing")
			}
			s.Expect("Third.")
			s.Say("/quit")
			s.Exit()
			said := string(s.Transcript())
			if n := strings.Count(said, "~/.gemini can't be written (the disk is full): this session is not saved"); n != 1 {
				t.Errorf("told %d times that nothing is saved:\n%s", n, said)
			}
			if strings.Contains(said, "no longer saved") {
				t.Errorf("told twice:\n%s", said)
			}
			if n := strings.Count(said, "can't be taken back: the disk is full"); n != 1 {
				t.Errorf("told %d times that there are no checkpoints:\n%s", n, said)
			}
			if strings.Contains(said, `nothing is saved from "the first" on`) == room {
				t.Errorf("the end is untrue:\n%s", said)
			}
			if !room {
				return
			}
			found := ""
			filepath.WalkDir(filepath.Join(c.Dir, "../kept"), func(path string, d os.DirEntry, err error) error {
				if err == nil && strings.HasSuffix(path, ".jsonl") {
					b, _ := os.ReadFile(path)
					found += string(b)
				}
				return nil
			})
			for _, text := range []string{"the first", "First.", "Looked around.", "the third", "Third."} {
				if !strings.Contains(found, text) {
					t.Errorf("%q is not saved", text)
				}
			}
		})
	}
}
