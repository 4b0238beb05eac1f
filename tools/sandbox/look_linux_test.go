package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/sandbox/stage"
)

// A command that only looks changes nothing, whatever it is, and sees of what
// does not come with the system no more than it was given.
func TestLook(t *testing.T) {
	k := kernel(t, Options{})
	home, err := os.UserHomeDir()
	if err != nil || strings.HasPrefix(home, "/tmp/") {
		t.Skip("a home directory is needed")
	}
	base, err := os.MkdirTemp(home, ".gemline-look-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	base, _ = filepath.EvalSymlinks(base)
	for _, parent := range []string{base, t.TempDir()} {
		root := filepath.Join(parent, "w")
		for name, text := range map[string]string{"w/a.txt": "one\n", "w/.env": "CANARY\n", "w/.git/config": "CANARY\n", "other/file": "CANARY\n", "seen/file": "seen\n"} {
			path := filepath.Join(parent, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p := Profile{Root: root, RunReadOnly: true, ReadOnly: []string{filepath.Join(parent, "seen")}, Hidden: []string{filepath.Join(root, ".env"), filepath.Join(root, ".git")}, Network: true}
		before := listed(t, root)
		for _, test := range []struct{ script, want string }{
			{"cat a.txt", "one\n"},
			{"cat ../seen/file", "seen\n"},
			{"touch new", "Read-only file system"},
			{"mkdir .gemini", "Read-only file system"},
			{"echo x >a.txt", "Read-only file system"},
			{"rm a.txt", "Read-only file system"},
			{"chmod 700 a.txt", "Read-only file system"},
			{"ln a.txt b.txt", "Read-only file system"},
			{"cat .env", "Permission denied"},
			{"ls -A .git; echo $?", "0\n"},
			{"cat ../other/file", "No such file"},
			{"touch ../seen/x", "Read-only file system"},
			{"echo two >/tmp/x && cat /tmp/x", "two\n"},
			{"ls -A /tmp | grep -c x", "0\n"}, // it has one of its own
			{"mktemp >/dev/null && echo ok", "ok\n"},
			{"mkdir " + home + "/x", "No such file"},
			{"(exec 3<>/dev/tcp/127.0.0.1/9) 2>&1", "Connection refused"},
			{"echo x >/dev/null && echo ok", "ok\n"},
			{"bash -c 'echo x >a.txt'; find . -name a.txt -delete; sed -i s/one/two/ a.txt", "Read-only file system"},
		} {
			out, _ := bash(t, k, p, test.script)
			ok := strings.Contains(out, test.want)
			if strings.HasPrefix(test.script, "mkdir "+home) || test.want == "Read-only file system" {
				ok = ok || strings.Contains(out, "Permission denied") || strings.Contains(out, "Read-only file system")
			}
			if !ok || strings.Contains(out, "CANARY") {
				t.Errorf("%s: %q; want %q", test.script, out, test.want)
			}
		}
		if after := listed(t, root); after != before {
			t.Errorf("there is\n%s\nand was\n%s", after, before)
		}
	}
	without := New(Options{Without: []string{stage.Namespaces}})
	t.Cleanup(func() { without.Close() })
	if _, err := without.Confine(exec.Command("true"), Profile{Root: base, RunReadOnly: true}); err == nil || without.State().RunsReadOnly {
		t.Error("without namespaces it runs")
	}
	out, _ := bash(t, k, Profile{Root: filepath.Join(base, "w"), RunReadOnly: true}, "ls -A "+home)
	if !strings.Contains(out, "Permission denied") {
		t.Errorf("the home directory is %q", out)
	}
}

// listed returns what is below dir, with modes and times.
func listed(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("find", dir, "-printf", "%p %m %T@ %C@ %s\n").Output()
	if err != nil {
		t.Skip(err)
	}
	return string(out)
}
