package stage

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gemline/engine/enginetest"
)

// sets returns what git reads in a configuration, by keys of two parts. Git
// refuses what it can't read.
func sets(t *testing.T, text string) map[string]string {
	t.Helper()
	cmd := exec.Command("git", "config", "--file", "-", "--list", "--null")
	cmd.Stdin, cmd.Env = strings.NewReader(text), []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	all := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.'); first != last {
			key = key[:first] + key[last:]
		}
		if entry != "" {
			all[key] = value
		}
	}
	return all
}

// What a command may have made in the place of a file with one line is not
// read: a pipe would never end, and a device may do something.
func TestLine(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"one": "../..\n", "bare": "../..", "two": "a\nb\n", "nul": "a\x00", "long": strings.Repeat("x", maxLine+1), "empty": ""} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "one", "device": "/dev/zero", "terminal": "/dev/tty", "self": "self"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one": "../..", "bare": "../..", "link": "../..", "two": "", "nul": "", "long": "", "empty": "", "device": "", "terminal": "", "self": "", "pipe": "", ".": "", "none": ""} {
		if got := line(at(name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Of a configuration that is taken for plain git reads nothing that makes
// something run.
func TestPlainConfigAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	n := 500
	if enginetest.Soak() {
		n = 100_000
	}
	r := enginetest.Random(t, 6)
	plain, read := 0, 0
	for range n {
		text := config(r)
		if !plainConfig(text) {
			continue
		}
		plain++
		all := sets(t, text)
		read += min(1, len(all))
		for key, value := range all {
			if !plainKeys[key] || strings.HasSuffix(key, ".url") && (strings.Contains(value, "::") || strings.HasPrefix(value, "-")) {
				t.Fatalf("%q sets %s to %q, says git", text, key, value)
			}
		}
	}
	if read < n/10 {
		t.Errorf("of %d are %d plain, in %d of which git reads something: that shows little", n, plain, read)
	}
	t.Logf("%d configurations, of which %d are plain; in %d of them git reads something, and nothing that runs", n, plain, read)
}

// config returns a file that is nearly one that git reads.
func config(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	odd := func() string {
		if r.IntN(25) > 0 {
			return ""
		}
		return pick("\\", "\"", "\"\"", "#", ";", "]", "[", "=", "\r", "\n", "\\\n", "\x00", "\f", "\u00a0", "\ufeff", ".", " ", "\t", "[include]path=x", "\n[alias]\n", "x = y", ":", "::", "-")
	}
	keys := map[string][]string{"core": {"filemode", "Bare", "symlinks"}, "remote": {"url", "fetch"}, "branch": {"merge", "remote"}, "User": {"name"}, "include": {"path"}}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		name, sub := pick("core", "core", "remote", "remote", "branch", "User", "include"), ""
		if name == "remote" || name == "branch" || r.IntN(20) == 0 {
			sub = pick(" ", " ", " ", "\t", "  ") + `"` + pick("origin", "a b", "a.b") + odd() + `"`
		}
		b.WriteString(odd() + "[" + name + odd() + sub + odd() + "]" + odd() + pick("\n", "\n", "\n", "\n", "\r\n", " "))
		for range r.IntN(3) {
			key := pick(keys[name]...)
			if r.IntN(20) == 0 {
				key = pick("fsmonitor", "pager", "path", "vcs")
			}
			b.WriteString(pick("\t", "\t", "", " ") + key + odd() + pick(" = ", "=", " =\t") + odd() + pick("true", "x", "https://example.com/x", "ext:"+pick("", ":", `""`, `":"`)+":sh", pick("", `""`)+"-x", "a b", "") + odd() + pick("\n", "\n", "\n", "\n", "\r\n", " "))
		}
	}
	return b.String()
}
