//go:build unix

package attack

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
func attackAll(t *testing.T, name string, all []line, every int) {
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
	}), 3)
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
	}), 8)
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
	}), 8)
}
