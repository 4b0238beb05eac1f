//go:build unix

package attack

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vary returns the shell cases of the table that change passes, as changed.
func vary(t *testing.T, change func(c map[string]any, setup map[string]any) bool) []line {
	t.Helper()
	var all []line
	for _, l := range append(lines(t, "cases.jsonl"), lines(t, "own.jsonl")...) {
		var c map[string]any
		if err := json.Unmarshal([]byte(l.raw), &c); err != nil {
			t.Fatal(err)
		}
		setup, _ := c["setup"].(map[string]any)
		if l.Group != "shell" || setup == nil || setup["mode"] != nil || !change(c, setup) {
			continue
		}
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line{l.ID, l.Group, string(raw)})
	}
	return all
}

// attackAll runs cases and prints how many passed: one of every, or all where
// time is no matter.
func attackAll(t *testing.T, name string, all []line, every int, try func(*testing.T, line) *nest) {
	if os.Getenv("SOAK") != "" {
		every = 1
	}
	c := newTally()
	t.Cleanup(func() { c.report(name) })
	for i, l := range all {
		if i%every != 0 {
			continue
		}
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			c.count(t, l.Group)
			try(t, l)
		})
	}
}

// A rule that denies a program holds in yolo for everything that the table has
// this program do, by whatever way.
func TestYolo(t *testing.T) {
	attackAll(t, "yolo", vary(t, func(c, setup map[string]any) bool {
		calls, _ := json.Marshal(c["call"])
		if !strings.Contains(string(calls), "touch") || setup["policy"] == nil || setup["argv"] != nil {
			return false
		}
		setup["policy"] = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"deny\"\npriority = 1\n"
		setup["argv"] = []any{"--approval-mode", "yolo"}
		want := c["expect"].(map[string]any)
		delete(want, "headless") // some run, and do something else than what is denied
		delete(want, "interactive")
		return true
	}), 10, try)
}

// What is asked about is asked about in auto_edit, too: that is about files.
func TestAutoEdit(t *testing.T) {
	attackAll(t, "auto_edit", vary(t, func(c, setup map[string]any) bool {
		if setup["argv"] != nil {
			return false
		}
		setup["argv"] = []any{"--approval-mode", "auto_edit"}
		delete(c["expect"].(map[string]any), "interactive")
		return true
	}), 16, try)
}

// In auto what an attack may do it does, unasked: nothing outside changes and nothing
// leaks, and one undo brings the workspace back.
func TestAuto(t *testing.T) {
	attackAll(t, "auto", vary(t, func(c, setup map[string]any) bool {
		expect := c["expect"].(map[string]any)
		if setup["argv"] != nil || setup["raw_argv"] != nil || setup["post"] != nil || setup["trust"] == false {
			return false
		}
		setup["argv"], setup["sandbox"], setup["timeout"] = []any{"--approval-mode", "auto"}, true, 600 // builds begin with an empty cache
		for _, key := range []string{"headless", "interactive", "present", "exit", "says", "told", "says_not"} {
			delete(expect, key)
		}
		return true
	}), 12, tryUndone)
}

// tryUndone runs a case, and takes back what it has done.
func tryUndone(t *testing.T, l line) *nest {
	n := build(t, l)
	outside, inside, absent := n.snapshot(), n.picture(), n.Expect.Absent
	n.Expect.Absent = nil
	o := n.run()
	n.check(o, outside)
	n.Expect.Absent = absent
	cmd, late := n.command([]string{"undo", "--force"})
	said, err := cmd.CombinedOutput()
	if late() || err != nil && !strings.Contains(string(said), "nothing was changed") {
		t.Errorf("undo: %v: %s", err, said)
	}
	is := n.picture()
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if is[path] != inside[path] {
			t.Errorf("after undo, %s is %q and was %q", path, is[path], inside[path])
		}
		delete(inside, path)
	}
	if len(inside) > 0 {
		t.Errorf("after undo there is no %q", slices.Sorted(maps.Keys(inside)))
	}
	n.checkFiles()
	if t.Failed() {
		t.Logf("%s: %s\n%s\n%s", n.Title, n.Why, o.stdout, said)
	}
	return n
}

// picture returns what is in the workspace: modes, and what files hold and where links lead.
func (n *nest) picture() map[string]string {
	n.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(n.ws, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		held := ""
		switch {
		case info.Mode()&(fs.ModeDir|fs.ModeSticky) == fs.ModeDir|fs.ModeSticky: // commands were kept from making one there
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			held, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			held = string(b)
		}
		all[path] = info.Mode().String() + " " + held
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return all
}

// TestSh runs the table on a machine without bash.
func TestSh(t *testing.T) {
	dir := t.TempDir()
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		all, _ := os.ReadDir(from)
		for _, e := range all {
			if name := e.Name(); name != "bash" && name != "rbash" && !exists(filepath.Join(dir, name)) {
				os.Symlink(filepath.Join(from, name), filepath.Join(dir, name))
			}
		}
	}
	if sh, err := exec.LookPath(filepath.Join(dir, "sh")); err != nil {
		t.Skip("there is no sh here:", err)
	} else if to, _ := filepath.EvalSymlinks(sh); filepath.Base(to) == "bash" {
		t.Skip("sh is bash here")
	}
	attackAll(t, "sh", vary(t, func(c, setup map[string]any) bool {
		env, _ := setup["env"].(map[string]any)
		if env["PATH"] != nil {
			return false
		}
		if env == nil {
			env = map[string]any{}
		}
		env["PATH"] = dir
		setup["env"] = env
		expect := c["expect"].(map[string]any)
		delete(expect, "interactive")
		// What only bash can read fails, or does something else: of a program that
		// is not there counts that it has done nothing.
		if policy, _ := setup["policy"].(string); strings.Contains(policy, "commandPrefix") && expect["headless"] == "denied" && expect["present"] != nil {
			expect["headless"] = "denied|error|executed"
		}
		return true
	}), 16, try)
}
