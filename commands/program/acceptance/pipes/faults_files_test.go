//go:build linux

package pipes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

const (
	ruleAgainstRm = "# Never.\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 999\n"
	oldText       = "one\ntwo\n"
)

// settled is a file of settings that does not fit into a kilobyte.
var settled = "{\n  // Mine.\n  \"model\": {\"maxSessionTurns\": 50},\n  \"general\": {\"preferredEditor\": \"vim\"}\n}\n" + strings.Repeat("// A line that is here for its length.\n", 60)

// A victim is a user with settings, rules and a project, to whom bad things
// happen.
type victim struct {
	t                  *testing.T
	server             *et.Server
	dir, home, project string
	trusted            string // the list of folders, as it was
}

// replies are what the model asks for in every run: a file made and one
// changed, one removed by a command, and an answer.
func (v *victim) answer(r et.Received) et.Reply {
	contents := r.Contents()
	if n := len(contents); n > 0 && len(contents[n-1].Parts) > 0 && contents[n-1].Parts[0].FunctionResponse != nil {
		return et.Says("Done.")
	}
	return et.Says("I work.", et.Call("", "write_file", "file_path", "new.txt", "content", "new\n"),
		et.Call("", "replace", "file_path", "a.txt", "instruction", "count", "old_string", "two", "new_string", "two\nthree", "allow_multiple", false),
		et.Call("", "run_shell_command", "command", "rm keep.txt"), et.Call("", "run_shell_command", "command", "echo made >made.txt"))
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	dir := t.TempDir()
	v := &victim{t: t, server: et.NewServer(), dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	v.server.Respond = v.answer
	t.Cleanup(v.server.Close)
	v.trusted = fmt.Sprintf("{\n  %q: \"TRUST_FOLDER\"\n}\n", filepath.Join(dir, "other"))
	pt.Write(t, dir, map[string]string{
		"home/.gemini/settings.json": settled, "home/.gemini/trustedFolders.json": v.trusted, "home/.gemini/policies/never.toml": ruleAgainstRm,
		"project/a.txt": oldText, "project/keep.txt": "keep\n", "project/.gemini/settings.json": "{}", "other/x": "",
	})
	return v
}

// command returns a run of the program in a world of its own, if inside is not
// nil.
func (v *victim) command(inside []string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	v.t.Helper()
	var out bytes.Buffer
	run := pt.Headless(v.t, v.server, v.project, &out, &out, args...)
	run.Env = append(run.Env, "HOME="+v.home, "GEMINI_FORCE_FILE_STORAGE=true")
	if inside != nil {
		pt.Enter(v.t, run, inside)
	}
	return run, &out
}

// check reports what must not be, however a run ended: files half written or
// readable by others, and more done than was allowed.
func (v *victim) check(when string) {
	v.t.Helper()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(v.dir, name))
		if err != nil {
			v.t.Errorf("%s: %v", when, err)
		}
		return string(b)
	}
	if got := read("home/.gemini/settings.json"); got != settled && got != strings.Replace(settled, `"vim"`, `"emacs"`, 1) {
		v.t.Errorf("%s: the settings are %q", when, got)
	}
	if got := read("home/.gemini/policies/never.toml"); got != ruleAgainstRm {
		v.t.Errorf("%s: the rules are %q", when, got)
	}
	list := map[string]string{}
	if err := json.Unmarshal([]byte(read("home/.gemini/trustedFolders.json")), &list); err != nil || list[filepath.Join(v.dir, "other")] != "TRUST_FOLDER" || len(list) > 2 {
		v.t.Errorf("%s: the folders are %v, %v", when, list, err)
	}
	if got := read("project/a.txt"); strings.Trim(strings.ReplaceAll(got, "three\n", ""), "\n") != strings.Trim(oldText, "\n") {
		v.t.Errorf("%s: a file is %q", when, got)
	}
	read("project/keep.txt") // which a rule protects
	err := filepath.WalkDir(v.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			v.t.Errorf("%s: %s has mode %o", when, path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		v.t.Error(err)
	}
}

// Killed anywhere, a run leaves whole files, no more rights than before, and
// sessions that can be gone on with.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	points := et.Rounds(12, 200)
	v := newVictim(t)
	args := func(i int) []string {
		switch i % 6 {
		case 4:
			return []string{"config", "set", "general.preferredEditor", []string{"emacs", "vim"}[i/6%2]}
		case 5:
			return []string{"trust", []string{"add", "remove"}[i/6%2], v.project}
		}
		return []string{"--skip-trust", "-y", "--resume", "latest", "-p", "work"}
	}
	var longest [6]time.Duration
	for i := range 6 { // how long each takes when it is left alone
		run, out := v.command(nil, args(i)...)
		start := time.Now()
		if err := run.Run(); err != nil {
			t.Fatalf("%q: %v: %s", args(i), err, out.Bytes())
		}
		longest[i] = time.Since(start)
	}
	for i := range points {
		run, _ := v.command(nil, args(i)...)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(longest[i%6] * time.Duration(i+1) / time.Duration(points)) // wherever that is
		run.Process.Kill()
		run.Wait()
		v.check(fmt.Sprintf("killed at point %d, %q", i, args(i)))
	}
	run, out := v.command(nil, "--skip-trust", "--resume", "latest", "-p", "work")
	os.Remove(filepath.Join(v.project, "new.txt"))
	if err := run.Run(); err != nil || !strings.Contains(out.String(), "Done.") {
		t.Errorf("resumed: %v: %s", err, out.Bytes())
	}
	if _, err := os.Stat(filepath.Join(v.project, "new.txt")); err == nil {
		t.Error("a file was written without leave")
	}
}

// The same, killed as it is about to ask the kernel for something, each time for
// something else.
func TestKilledAtSystemCalls(t *testing.T) {
	t.Parallel()
	if !et.Soak() {
		t.Skip("SOAK is not set")
	}
	const most = 12
	calls := []string{"renameat", "renameat2", "fsync", "write", "openat", "unlinkat", "flock", "mkdirat", "ftruncate", "fchmod", "close"}
	v := newVictim(t)
	points := 0
	for _, call := range calls {
		for n := 1; n <= most; n++ {
			args := []string{"--skip-trust", "-y", "--resume", "latest", "-p", "work"}
			switch {
			case n%4 == 2:
				args = []string{"config", "set", "general.preferredEditor", []string{"emacs", "vim"}[n/4%2]}
			case n%4 == 3:
				args = []string{"trust", []string{"add", "remove"}[n/4%2], v.project}
			}
			by := []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n)}
			run, out := v.command(nil, args...)
			pt.Enter(t, run, []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call})
			run.Args = append(by, run.Args[len(by)-2:]...)
			run.Run()
			if !run.ProcessState.Success() {
				points++
			}
			v.check(fmt.Sprintf("killed at %s %d, %q: %s", call, n, args, out.Bytes()))
		}
	}
	if points == 0 {
		t.Error("nothing was killed")
	}
	t.Logf("killed at %d points", points)
}

// In worlds where writing fails, decisions are the same, and what there was is
// there still.
func TestFailingWrites(t *testing.T) {
	t.Parallel()
	mounted := func(script string) []string {
		return []string{"unshare", "-rm", "sh", "-c", script + ` && exec "$@"`, "sh"}
	}
	const powerless = "setpriv --bounding-set=-dac_override,-dac_read_search,-fowner"
	for name, inside := range map[string]func(v *victim) []string{
		"files of a kilobyte": func(*victim) []string { return []string{"bash", "-c", `ulimit -f 1; exec "$@"`, "sh"} },
		"a full disk": func(v *victim) []string {
			return []string{"unshare", "-rm", "sh", "-c", `home=$1; shift; cd ..; mkdir -p real; mount --bind "$home" real && mount -t tmpfs -o size=40k none "$home" &&
				cp -a real/. "$home" && { dd if=/dev/zero of="$home/fill" bs=1k 2>/dev/null; cd project; "$@"; code=$?; cd ..; rm -rf real/.gemini; cp -a "$home/.gemini" real; exit $code; }`, "sh", v.home}
		},
		"a home to read only": func(v *victim) []string {
			return mounted("mount --bind '" + v.home + "' '" + v.home + "' && mount -o remount,bind,ro '" + v.home + "'")
		},
		"no process file system": func(*victim) []string { return mounted("mount -t tmpfs none /proc") },
		"no device files":        func(*victim) []string { return mounted("mount -t tmpfs none /dev") },
		"no files to open":       func(*victim) []string { return []string{"bash", "-c", `ulimit -n 15; exec "$@"`, "sh"} },
		"a home of another's": func(v *victim) []string {
			return []string{"sh", "-c", "chmod -R a-w '" + v.home + "' && " + powerless + ` "$@"; code=$?; chmod -R u+w '` + v.home + "'; exit $code", "sh"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			by := inside(v)
			for i, args := range [][]string{
				{"-p", "work", "--max-attempts", "1"},
				{"--skip-trust", "-y", "-p", "work", "--max-attempts", "1"},
				{"--skip-trust", "--resume", "latest", "-y", "-p", "work", "--max-attempts", "1"},
				{"--trust", "-y", "-p", "work", "--max-attempts", "1"},
				{"config", "set", "general.preferredEditor", "emacs"},
				{"trust", "add", v.project},
				{"-p", "work", "--max-attempts", "1"},
			} {
				if i%3 == 2 && !et.Soak() {
					continue // a second run in yolo, and trust by another way
				}
				for _, made := range []string{"new.txt", "made.txt"} {
					os.Remove(filepath.Join(v.project, made))
				}
				run, out := v.command(by, args...)
				run.Run()
				v.check(fmt.Sprintf("%q", args))
				for _, made := range []string{"new.txt", "made.txt"} {
					if _, err := os.Stat(filepath.Join(v.project, made)); err == nil && !strings.Contains(strings.Join(args, " "), "-y") {
						t.Errorf("%q: %s was made: %s", args, made, out.Bytes())
					}
				}
				if bytes.Contains(out.Bytes(), []byte("panic")) || bytes.Contains(out.Bytes(), []byte("mistake in gemline")) {
					t.Errorf("%q: %s", args, out.Bytes())
				}
			}
		})
	}
}

// Rules and decisions that can't be read are not taken for none.
func TestUnreadableRules(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(v *victim) error{
		"rules":          func(v *victim) error { return os.Chmod(filepath.Join(v.home, ".gemini/policies/never.toml"), 0) },
		"half the rules": func(v *victim) error { return os.Truncate(filepath.Join(v.home, ".gemini/policies/never.toml"), 40) },
		"all rules":      func(v *victim) error { return os.Chmod(filepath.Join(v.home, ".gemini/policies"), 0) },
		"settings":       func(v *victim) error { return os.Chmod(filepath.Join(v.home, ".gemini/settings.json"), 0) },
		"folders":        func(v *victim) error { return os.Truncate(filepath.Join(v.home, ".gemini/trustedFolders.json"), 5) },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			if err := spoil(v); err != nil {
				t.Fatal(err)
			}
			args := []string{"-y", "-p", "work"}
			if name != "folders" {
				args = append(args, "--skip-trust")
			}
			var by []string
			if os.Getuid() == 0 {
				by = []string{"setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"}
			}
			run, out := v.command(by, args...)
			run.Run()
			if _, err := os.Stat(filepath.Join(v.project, "keep.txt")); err != nil {
				t.Errorf("%v: %s", err, out.Bytes())
			}
			if name == "rules" || name == "half the rules" { // nothing runs unasked
				_, err := os.Stat(filepath.Join(v.project, "new.txt"))
				if err == nil || run.ProcessState.ExitCode() != 0 || !bytes.Contains(out.Bytes(), []byte("every call is asked about until the file is mended")) {
					t.Errorf("%v, exit code %d: %s", err, run.ProcessState.ExitCode(), out.Bytes())
				}
				return
			}
			if run.ProcessState.ExitCode() == 0 || len(v.server.Requests()) > 0 {
				t.Errorf("it began, and ended with %d: %s", run.ProcessState.ExitCode(), out.Bytes())
			}
		})
	}
}

// A run that may open too few files to reach the server says so at once: to
// wait and to try again changes nothing.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	unreached := 0
	for n := 9; n < 24 && unreached < 2; n++ { // how many the run itself needs is not the same everywhere
		s := et.NewServer(et.Says("Hi."))
		var out, errs bytes.Buffer
		run := pt.Headless(t, s, t.TempDir(), &out, &errs, "--timeout", "60s", "-p", "hi")
		pt.Enter(t, run, []string{"bash", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, n), "sh"})
		run.Run()
		s.Close()
		said := errs.String()
		if !strings.Contains(said, "error: no connection to ") {
			continue // it did not come so far, or it had what it needs
		}
		unreached++
		if !strings.Contains(said, ": too many files are open\nhint: allow more with ulimit -n") || strings.Contains(said, "asking again") || run.ProcessState.ExitCode() != 68 {
			t.Errorf("with %d files: %v: %s", n, run.ProcessState, said)
		}
	}
	if unreached == 0 {
		t.Error("every run that had files enough to start reached the server")
	}
}
