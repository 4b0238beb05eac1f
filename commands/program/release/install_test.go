package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// make install puts the program, its pages and the licences below a directory with blanks in its
// name, twice if need be, and make uninstall leaves what others have there, and nothing else.
func TestInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one for sh")
	}
	script, err := filepath.Abs("install")
	if err != nil {
		t.Fatal(err)
	}
	clone, to := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(clone, "gemline"), "#!/bin/sh\necho \"$@\"\n")
	write(filepath.Join(clone, "LICENSE"), "ours\n")
	for _, c := range []struct{ name, prefix, libraries, others string }{
		{"new", "/opt/new dir/a b", "theirs\n", ""},
		{"in a directory of others", "/opt/a b", "theirs\n", "opt/other"},
		{"beside others", "/usr", "theirs\n", "usr/share/doc/gemline/notes usr/bin/ls"},
		{"no licences", "/usr", "", "usr/share/man/man1/ls.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dest := filepath.Join(to, c.name)
			if err := os.Mkdir(dest, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(c.others) {
				write(filepath.Join(dest, name), "")
			}
			before := tree(t, dest)
			if err := os.RemoveAll(filepath.Join(clone, "bin")); err != nil {
				t.Fatal(err)
			}
			if c.libraries != "" {
				write(filepath.Join(clone, "bin/licences"), c.libraries)
			}
			run := func(args ...string) {
				t.Helper()
				cmd := exec.Command(script, args...)
				cmd.Dir = clone
				cmd.Env = append(os.Environ(), "DESTDIR="+dest, "PREFIX="+c.prefix)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
			}
			run()
			run()
			want := map[string]string{"bin/gemline": "#!/bin/sh\necho \"$@\"\n", "share/man/man1/gemline.1": "man\n", "share/doc/gemline/LICENSE": "ours\n",
				"share/doc/gemline/THIRD-PARTY-LICENSES.txt": c.libraries, "share/gemline/installed-by": "make PREFIX=" + c.prefix + "\n",
				"share/bash-completion/completions/gemline": "completion bash\n", "share/zsh/site-functions/_gemline": "completion zsh\n",
				"share/fish/vendor_completions.d/gemline.fish": "completion fish\n"}
			for name, text := range want {
				if b, err := os.ReadFile(filepath.Join(dest, c.prefix, name)); string(b) != text || (err != nil) != (text == "") {
					t.Errorf("%s: %q, %v", name, b, err)
				}
			}
			run("uninstall")
			run("uninstall")
			if after := tree(t, dest); !slices.Equal(before, after) {
				t.Errorf("%q were there, %q are there", before, after)
			}
		})
	}
}

// What is built is installed without Go, which sudo does not find; only where nothing is built
// does make install build.
func TestInstallWhatIsBuilt(t *testing.T) {
	dir := t.TempDir()
	make := func() string {
		cmd := exec.Command("make", "--no-print-directory", "-n", "install")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	b, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := make(); !strings.Contains(out, "-o gemline .\n") || !strings.Contains(out, ">bin/licences ") {
		t.Errorf("nothing is built: %s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "gemline"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if out := make(); out != "commands/program/release/install\n" {
		t.Errorf("built again: %s", out)
	}
}
