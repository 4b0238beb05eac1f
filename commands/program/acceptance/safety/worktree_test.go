//go:build unix

package safety

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// Whatever a repository names, making, listing and removing a worktree runs nothing of
// it: there is a tree and nothing has run, or there is none.
func TestWorktreeOfAHostileRepository(t *testing.T) {
	t.Parallel()
	pt.Need(t, "git")
	const hook = "#!/bin/sh\ntouch REPO/PWNED\n"
	for _, test := range []struct {
		name    string
		config  string // of the repository, where REPO is its place
		files   map[string]string
		refused string // why there is no tree, "" if there is one
		fires   bool   // git by itself would run it
	}{
		{name: "nothing"},
		{name: "a hook", files: map[string]string{".git/hooks/post-checkout": hook, ".git/hooks/reference-transaction": hook, ".git/hooks/post-index-change": hook}, fires: true},
		{name: "hooks elsewhere", config: "[core]\n\thooksPath = REPO/.husky\n", files: map[string]string{".husky/post-checkout": hook}, fires: true},
		{name: "a monitor", config: "[core]\n\tfsmonitor = touch REPO/PWNED; false\n", fires: true},
		{name: "a pager, an editor and an alias", config: "[core]\n\tpager = touch REPO/PWNED\n\teditor = touch REPO/PWNED\n[alias]\n\tworktree = !touch REPO/PWNED\n"},
		{name: "a server that is asked for objects", config: "[core]\n\tsshCommand = touch REPO/PWNED\n[remote \"o\"]\n\turl = ssh://127.0.0.1/x\n\tpromisor = true\n"},
		{name: "a filter", config: "[filter \"x\"]\n\tsmudge = touch REPO/PWNED; cat\n\tclean = touch REPO/PWNED; cat\n", files: map[string]string{".gitattributes": "* filter=x\n"}, refused: "sets filter.x.smudge", fires: true},
		{name: "a filter that stays", config: "[filter \"x\"]\n\tprocess = touch REPO/PWNED\n", files: map[string]string{".git/info/attributes": "* filter=x\n"}, refused: "sets filter.x.process", fires: true},
		{name: "a filter called lfs", config: "[filter \"lfs\"]\n\tprocess = touch REPO/PWNED\n", files: map[string]string{".gitattributes": "*.txt filter=lfs\n"}, refused: "sets filter.lfs.process", fires: true},
		{name: "another file", config: "[include]\n\tpath = ../more\n", files: map[string]string{"more": "[filter \"x\"]\n\tsmudge = touch REPO/PWNED\n"}, refused: "sets include.path"},
		{name: "another file, perhaps", config: "[includeIf \"gitdir:**\"]\n\tpath = ../more\n", refused: "sets includeif"},
		{name: "another tree", config: "[core]\n\tworktree = /\n", refused: "sets core.worktree"},
		{name: "what nobody knows", config: "[core]\n\tnewThing = touch REPO/PWNED\n", refused: "sets core.newthing"},
		{name: "what can't be read", config: "[core\n", refused: "can't be read"},
		{name: "the worktree's own", config: "[extensions]\n\tworktreeConfig = true\n", files: map[string]string{".git/config.worktree": "[filter \"x\"]\n\tsmudge = touch REPO/PWNED\n", ".gitattributes": "* filter=x\n"}, refused: "sets filter.x.smudge", fires: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := pt.Terminal(t, et.NewServer(et.Says("Hello.")))
			pt.Configured(t, c, `{"experimental": {"worktrees": true}}`)
			run := func(name string, args ...string) (string, error) {
				cmd := exec.Command(name, args...)
				cmd.Dir, cmd.Env = c.Dir, append(c.Env, "GEMINI_CLI_TRUST_WORKSPACE=")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			repo := func(text string) string { return strings.ReplaceAll(text, "REPO", c.Dir) }
			for name, text := range test.files {
				if !strings.HasPrefix(name, ".git/") {
					pt.Write(t, c.Dir, map[string]string{name: text})
				}
			}
			if out, err := run("sh", "-ec", "git init -q -b main .; git add .; git -c user.name=n -c user.email=e commit -qm one"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for name, text := range test.files {
				path := filepath.Join(c.Dir, name)
				pt.Write(t, c.Dir, map[string]string{name: repo(text)})
				if err := os.Chmod(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			config := filepath.Join(c.Dir, ".git/config")
			before, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(config, []byte(string(before)+repo(test.config)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := run(c.Path, "-m", pt.Model, "-w", "tree", "-p", "hi")
			_, made := os.Stat(filepath.Join(c.Dir, ".gemini/worktrees/tree/greeting.txt"))
			if (err == nil) != (test.refused == "") || (made == nil) != (test.refused == "") || !strings.Contains(out, test.refused) {
				t.Errorf("%v, made %v: %s", err, made == nil, out)
			}
			if test.refused == "" {
				pt.Write(t, c.Dir, map[string]string{".gemini/worktrees/tree/notes.txt": "changed"})
				if out, _ := run(c.Path, "worktree", "list"); !strings.Contains(out, "1 file not committed") {
					t.Error(out)
				}
				if out, err := run(c.Path, "worktree", "remove", "tree", "--force"); err != nil {
					t.Error(out)
				}
			}
			if _, err := os.Lstat(filepath.Join(c.Dir, "PWNED")); err == nil {
				t.Errorf("something has run: %s", out)
			}
			plain, _ := run("sh", "-c", "git worktree add -b plain ../plain; git status")
			if _, err := os.Lstat(filepath.Join(c.Dir, "PWNED")); test.fires && err != nil {
				t.Errorf("git runs nothing here by itself, so that this shows nothing: %s", plain)
			}
		})
	}
}

// Git is not started before a folder is trusted, nor by the settings of one that is not.
func TestWorktreeNeedsTrust(t *testing.T) {
	t.Parallel()
	pt.Need(t, "git")
	c := pt.Terminal(t, et.NewServer())
	out := filepath.Join(filepath.Dir(c.Dir), "ran")
	bin := filepath.Join(filepath.Dir(c.Dir), "bin")
	pt.Write(t, bin, map[string]string{"git": "#!/bin/sh\ntouch " + out + "\n"})
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	pt.Write(t, c.Dir, map[string]string{".gemini/settings.json": `{"experimental": {"worktrees": true}}`, ".git/HEAD": "ref: refs/heads/main\n"})
	for _, test := range []struct {
		env  string
		code int
		ran  bool
	}{{"", 55, false}, {"false", 55, false}, {"true", 2, true}} {
		cmd := exec.Command(c.Path, "-w", "tree", "-p", "hi")
		cmd.Dir, cmd.Env = c.Dir, append(c.Env, "GEMINI_CLI_TRUST_WORKSPACE="+test.env, "PATH="+bin+":"+os.Getenv("PATH"), "GEMINI_SANDBOX=false")
		said, _ := cmd.CombinedOutput()
		_, err := os.Stat(out)
		if code := cmd.ProcessState.ExitCode(); code != test.code || (err == nil) != test.ran {
			t.Errorf("trusted %q: code %d, git ran %v: %s", test.env, code, err == nil, said)
		}
	}
}
