//go:build unix

package disk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each link on the way is told, and what it leads to, but for what leads upward.
func TestLeads(t *testing.T) {
	root := ResolveLinks(t.TempDir())
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"conf", "d/er", "own/skills", "sk", "a/c"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("conf/s.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"plain": "conf", "chain": "one", "one": "two", "two": "conf", "own/settings.json": "../conf/s.json", "own/skills/x": "../../sk", "own/up": "..",
		"circle": "circle", "lost": "nowhere", "far": "b/c", "b": "a", "out": "/nowhere/else",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"none": nil, "conf": nil, "plain": {"conf"}, "chain": {"conf", "one", "two"}, "own": {"conf/s.json", "sk"},
		"lost": {"nowhere"}, "far": {"a/c", "b"}, "b/none": nil,
	} {
		var places []string
		for _, place := range LinkTargets(at(name)) {
			rel, err := filepath.Rel(root, place)
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, rel)
		}
		if diff := cmp.Diff(want, places); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{at("chain"), at("one"), at("two"), at("conf/none")}, Way(at("chain/none"))); diff != "" {
		t.Error(diff)
	}
	LinkTargets(at("circle"))
	if got := LinkTargets(at("out")); len(got) != 1 || got[0] != "/nowhere/else" {
		t.Errorf("out: %q", got)
	}
}

// Hard links of files are found wherever they are, and only those.
func TestTwins(t *testing.T) {
	root := ResolveLinks(t.TempDir())
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"conf/deep", "work/far"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"conf/deep/a", "conf/b", "work/other"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"work/far/a": "conf/deep/a", "conf/c": "conf/b", "work/more": "work/other"} {
		if err := os.Link(at(from), at(to)); err != nil {
			t.Skip(err)
		}
	}
	want := []string(nil)
	if info, err := os.Stat(at("conf/b")); err == nil && LinkCount(info) > 1 {
		want = []string{at("work/far/a")}
	}
	if diff := cmp.Diff(want, HardLinks([]string{at("conf")}, []string{root, at("work"), at("none")})); diff != "" {
		t.Error(diff)
	}
}
