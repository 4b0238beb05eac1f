//go:build linux

package safety

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// Confined commands that only look run without a question and without a user,
// in plan mode, too; others do not, and none where a rule or a repository is
// against it.
func TestReadOnlyUnasked(t *testing.T) {
	t.Parallel()
	if !pt.Confined() {
		t.Skip("the kernel does not confine commands here")
	}
	pt.Need(t, "git")
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{
		"notes.txt": "one\ntwo\n", ".env": "KEY=1\n", "odd/.git/HEAD": "ref: refs/heads/main\n", "odd/.git/objects/x": "", "odd/.git/refs/x": "",
		"odd/.git/config": "[core]\n\tfsmonitor = touch ../made\n",
		"ask.toml":        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandSafe = true\ndecision = \"ask_user\"\npriority = 1\n",
	})
	if out, err := exec.Command("git", "init", "-q", "-b", "trunk", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const denied = "requires user confirmation"
	for _, test := range []struct {
		name       string
		args       []string
		looks, not string // what is said to commands that look, and to others
	}{
		{"default", nil, "", denied},
		{"auto_edit", []string{"--approval-mode", "auto_edit"}, "", denied},
		{"plan", []string{"--approval-mode", "plan"}, "", "Plan mode is read-only"},
		{"a rule", []string{"--policy", "ask.toml"}, denied, denied},
		{"not confined", []string{"--sandbox=off"}, denied, denied},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls := []struct{ command, want string }{
				{"cat notes.txt | wc -l", "2"}, {"ls *.txt", "notes.txt"}, {"cd odd && git branch -a", "refs/x"}, {"find . -name 'n*' -exec head -1 {} +", "one"}, {"git status --short --branch", "No commits yet on trunk"}, {"cd " + dir + " && ls -1", "notes.txt"}, {"sed -n '2p' notes.txt", "two"}, {"for f in n*; do cat $f; done", "one"}, {"cat $(echo notes.txt)", "one"},
				{"touch made", ""}, {"ls > made", ""}, {"cat .env", ""}, {"cat /etc/passwd", ""}, {"sort -o made notes.txt", ""}, {"ls $(touch made)", ""}, {"for f in *; do touch $f; done", ""},
			}
			var replies []et.Reply
			for i, c := range calls {
				replies = append(replies, pt.Runs(fmt.Sprint(i), c.command))
			}
			s := et.NewServer(append(replies, et.Says("Done."))...)
			t.Cleanup(s.Close)
			run := pt.Headless(t, s, dir, io.Discard, io.Discard, append(test.args, "--skip-trust", "-p", "go", "-q")...)
			if err := run.Run(); err != nil {
				t.Fatal(err)
			}
			requests, told := s.Requests(), 0
			for _, content := range requests[len(requests)-1].Contents() {
				for _, p := range content.Parts {
					if p.FunctionResponse == nil {
						continue
					}
					b, _ := json.Marshal(p.FunctionResponse.Response)
					want := test.not
					if calls[told].want != "" {
						if want = test.looks; want == "" {
							want = calls[told].want
						}
					}
					if !strings.Contains(string(b), want) {
						t.Errorf("%s: %s; want %q", calls[told].command, b, want)
					}
					told++
				}
			}
			if told != len(calls) {
				t.Errorf("%d answers", told)
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
				t.Error("something was made")
			}
		})
	}
}
