package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/sandbox/stage"
)

// What is masked is not run, nor read, with as much of the kernel's means as there
// are; a link is, where there are no namespaces, since what it leads to is not
// masked.
func TestMasked(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, bin := filepath.Join(base, "root"), filepath.Join(base, "bin")
	for _, dir := range []string{root, bin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"strike": "CANARY", "box": "box by ${0##*/}"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("box", filepath.Join(bin, "link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		without []string
		look    bool
		masks   bool
		link    string // what it prints
	}{
		{nil, false, true, "Permission denied"},
		{nil, true, true, "Permission denied"},
		{[]string{stage.Landlock}, false, true, "Permission denied"},
		{[]string{stage.Namespaces}, false, true, "box by link"},
		{[]string{stage.Namespaces, stage.Landlock}, false, false, ""},
	} {
		k := New(Options{Without: test.without})
		t.Cleanup(func() { k.Close() })
		if test.masks && !k.State().Confined() {
			t.Skipf("commands can't be confined here without %v: %+v", test.without, k.State())
		}
		if got := k.State().Masks; got != test.masks {
			t.Errorf("without %v it masks: %v", test.without, got)
		}
		if !test.masks {
			continue
		}
		p := Profile{Root: root, ReadOnly: []string{bin}, RunReadOnly: test.look, Masked: []string{filepath.Join(bin, "strike"), filepath.Join(bin, "link")}}
		for _, script := range []string{bin + "/strike", "sh " + bin + "/strike", "cat " + bin + "/strike", "cp " + bin + "/strike x; ./x"} {
			if out, _ := bash(t, k, p, script); strings.Contains(out, "CANARY") || !strings.Contains(out, "ermission denied") {
				t.Errorf("without %v: %s: %s", test.without, script, out)
			}
		}
		if out, _ := bash(t, k, p, bin+"/box"); out != "box by box\n" {
			t.Errorf("without %v another program does not run: %s", test.without, out)
		}
		if out, _ := bash(t, k, p, bin+"/link"); !strings.Contains(out, test.link) {
			t.Errorf("without %v the link: %s", test.without, out)
		}
	}
}
