//go:build unix

package mask

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What bears a denied name is masked, with what it leads to and its other names; of
// a program that is many, only the name is.
func TestFind(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin, more, lib := filepath.Join(root, "bin"), filepath.Join(root, "more"), filepath.Join(root, "lib")
	for _, dir := range []string{bin, more, lib} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin/zap", "more/ZAP", "more/gzap", "lib/zot.real", "bin/busybox", "lib/manager", "bin/kill", "bin/env", "more/toybox", "bin/zapper"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"bin/zlink": "zap", "bin/zot": "../lib/zot", "lib/zot": "zot.real", "bin/zbox": "busybox",
		"bin/zstop": root + "/lib/zstop", "lib/zstop": "manager", "bin/zgone": "nothing", "bin/zshebang": "env", "usr": "bin"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string]string{"more/zhard": "bin/zap", "more/ztoy": "more/toybox"} {
		if err := os.Link(filepath.Join(root, of), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	f := Finder{Path: strings.Join([]string{bin, "relative", root + "/usr", more, root + "/later"}, ":")}
	for _, test := range []struct{ program, files, left string }{
		{"zap", "bin/zap more/ZAP more/gzap more/zhard", ""},
		{"Zap.exe", "bin/zap more/ZAP more/gzap more/zhard", ""},
		{"zot", "lib/zot.real", ""},
		{"zbox", "bin/zbox", "it leads to ROOT/bin/busybox, which is other programs as well"},
		{"ztoy", "more/ztoy", "it leads to ROOT/more/toybox, which is other programs as well"},
		{"zstop", "bin/zstop lib/zstop", "it leads to ROOT/lib/manager, which is other programs as well"},
		{"busybox", "bin/busybox", ""},
		{"zgone", "", "it is not installed"},
		{"zinstalled", "", "it is not installed"},
		{"zshebang", "", "commands are run by it"},
		{"env", "", "commands are run by it"},
	} {
		m := f.Find([]string{test.program})[0]
		var files []string
		for _, path := range m.Files {
			if rel, ok := strings.CutPrefix(path, root+"/"); ok { // the system's own ones are there as well
				files = append(files, rel)
			}
		}
		if got, left := strings.Join(files, " "), strings.ReplaceAll(m.WhyRunnable, root, "ROOT"); got != test.files || left != test.left {
			t.Errorf("%s: %s (%s), want %s (%s)", test.program, got, left, test.files, test.left)
		}
	}
	if m := f.Find([]string{"kill"})[0]; !slices.Contains(m.Files, filepath.Join(bin, "kill")) || m.WhyRunnable != "the shell has a command of that name itself" {
		t.Errorf("kill: %+v", m)
	}
	if got := f.Others(f.Find([]string{"zap"})[0]); !slices.Equal(got, []string{"zhard", "zlink"}) {
		t.Errorf("with zap go %v", got)
	}
	if err := os.Mkdir(root+"/later", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/later/zinstalled", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if m := f.Find([]string{"zinstalled"})[0]; !slices.Equal(m.Files, []string{root + "/later/zinstalled"}) {
		t.Errorf("what is installed later is not found: %+v", m)
	}
}
