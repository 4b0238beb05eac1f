package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// Files and directories of rules, and those that somebody else may have written.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("d/b.toml", denyRm)
	write("d/a.toml", allowGit)
	write("d/.hidden.toml", "x")
	write("d/readme.md", "x")
	write("d/sub/c.toml", "x")
	bad := write("bad.toml", "x")
	text := write("rules.txt", "")
	d := filepath.Join(dir, "d")
	rules, warnings, err := policy.Load([]policy.Source{{Path: d, Tier: policy.User}, {Path: filepath.Join(dir, "none"), Tier: policy.Admin}})
	if err != nil || len(warnings) > 0 || len(rules) != 2 || rules[0].Where() != filepath.Join(d, "a.toml")+":2" || rules[0].Tier != policy.User {
		t.Error(rules, warnings, err)
	}
	exposed := func(path string) string { return "somebody wrote it" }
	if rules, warnings, err = policy.Load([]policy.Source{{Path: d, WorldWritable: exposed}}); err != nil || len(rules) > 0 || len(warnings) != 1 {
		t.Error(rules, warnings, err)
	}
	for _, c := range []struct {
		path    string
		exposed string // whose name ends so
		want    bool
	}{
		{d, "none", true}, {d, "a.toml", true}, {d, ".toml", false}, {d, "d", false}, {filepath.Join(dir, "none"), "x", false}, {filepath.Join(d, "sub"), "c.toml", false},
	} {
		src := policy.Source{Path: c.path, WorldWritable: func(path string) string {
			return map[bool]string{true: "somebody wrote it"}[strings.HasSuffix(path, c.exposed)]
		}}
		if src.Exists() != c.want {
			t.Errorf("%s holds rules that count, where %s does not: %v", c.path, c.exposed, !c.want)
		}
	}
	if !(policy.Source{Path: d}).Exists() {
		t.Error("nobody is trusted")
	}
	if rules, warnings, err := policy.Load([]policy.Source{{Path: bad, Tier: policy.User, Required: true}}); err != nil || len(rules) != 1 || len(warnings) != 1 ||
		!strings.HasPrefix(warnings[0], bad+":1:") || rules[0].Verdict != engine.Ask {
		t.Error(rules, warnings, err)
	}
	if _, _, err := policy.Load([]policy.Source{{Path: bad, Tier: policy.Admin}}); err == nil {
		t.Error("a file of the administrator's is passed over")
	}
	half := write("half.toml", allowGit+denyRm+"\n[[rule]]\ntoolName = \"glob\ndecision = \"deny\"\npriority = 1\n")
	if rules, warnings, err := policy.Load([]policy.Source{{Path: half, Tier: policy.User}}); err != nil || len(rules) != 2 || len(warnings) != 1 ||
		rules[0].Verdict != engine.Deny || rules[0].Origin.Line < 7 || rules[1].Verdict != engine.Ask || rules[1].Priority != 999 {
		t.Error(rules, warnings, err)
	}
	for _, path := range []string{text, filepath.Join(dir, "none")} {
		if _, _, err := policy.Load([]policy.Source{{Path: path, Required: true}}); err == nil || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Files that can't be read, or are none.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "no.toml"): "can't be read, and the rules in it would not hold: no such file", filepath.Join(file, "x"): "can't be read, and the rules in it would not hold: not a dir"} {
		_, _, err := policy.Load([]policy.Source{{Path: path, Required: true}})
		if err == nil || err.Error()[:len(path)+2] != path+": " || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if rules, warnings, err := policy.Load([]policy.Source{{Path: path}}); rules != nil || warnings != nil || err != nil {
			t.Error(rules, warnings, err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "b.toml")); err != nil {
		t.Skip(err)
	}
	if _, _, err := policy.Load([]policy.Source{{Path: dir, Tier: policy.Admin}}); err == nil || !strings.Contains(err.Error(), "b.toml: can't be read") {
		t.Error("a link that leads nowhere is passed over:", err)
	}
	if err := os.Remove(filepath.Join(dir, "b.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "c.toml")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := policy.Load([]policy.Source{{Path: dir, Tier: policy.Admin}}); err == nil || !strings.Contains(err.Error(), "c.toml: can't be read, and the rules in it would not hold: is not a regular file") {
		t.Error("a device is read:", err)
	}
	if err := os.Remove(filepath.Join(dir, "c.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := policy.Load([]policy.Source{{Path: dir}}); err != nil {
		t.Error("a directory is taken for a file:", err)
	}
	exposed := func(path string) string { return map[bool]string{true: "anybody writes there"}[path != dir] }
	if _, warnings, err := policy.Load([]policy.Source{{Path: dir, WorldWritable: exposed}}); err != nil || len(warnings) != 1 {
		t.Error(warnings, err)
	}
}
