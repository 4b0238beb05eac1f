package safe_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gemline/engine/enginetest"
	"gemline/tools/shell/safe"
)

// configured returns what git reads in a configuration, "key=value" each, with
// the name of a section's own left out of the key. Git refuses what it can't
// read.
func configured(t *testing.T, text string) (entries []string, ok bool) {
	t.Helper()
	cmd := exec.Command("git", "config", "--file", "-", "--list", "--null")
	cmd.Stdin, cmd.Env = strings.NewReader(text), []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.'); first != last {
			key = key[:first] + "." + key[last:]
		}
		if entry != "" {
			entries = append(entries, key+"="+strings.Join(strings.Fields(value), " "))
		}
	}
	return entries, true
}

// lineByLine is the same, read in the simplest way.
func lineByLine(text string) (entries []string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, _, sub := strings.Cut(strings.Trim(line, "[]"), " ")
			if section = strings.ToLower(name) + "."; sub {
				section += "."
			}
		default:
			key, value, _ := strings.Cut(line, "=")
			entries = append(entries, section+strings.ToLower(strings.TrimSpace(key))+"="+strings.Join(strings.Fields(value), " "))
		}
	}
	return entries
}

// settled reports whether a configuration is taken for settled, and how much
// git reads in it: nothing but what stands in its lines, each of which may be
// there.
func settled(t *testing.T, text string) (ok bool, entries int) {
	t.Helper()
	if safe.Settled(text) != "" {
		return false, 0
	}
	got, ok := configured(t, text)
	if want := lineByLine(text); ok && !slices.Equal(got, want) {
		t.Errorf("%q says %q, says git; line by line %q", text, got, want)
	}
	for _, entry := range got {
		if key, _, _ := strings.Cut(entry, "="); !safe.Setting(key) {
			t.Errorf("%q sets %s, says git", text, key)
		}
	}
	return true, len(got)
}

// A configuration that is taken for settled is read by git as it is here, line
// by line.
func TestSettledAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	n := 500
	if enginetest.Soak() {
		n = 100_000
	}
	r := enginetest.Random(t, 5)
	fine, read := 0, 0
	for range n {
		text := configuration(r)
		if ok, keys := settled(t, text); ok {
			fine++
			read += min(1, keys)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if read < n/10 {
		t.Errorf("of %d are %d settled, in %d of which git reads something: that shows little", n, fine, read)
	}
	t.Logf("%d configurations, of which %d are settled; in %d of them git reads something, and nothing else", n, fine, read)
}

// configuration returns a file that is nearly one that git reads.
func configuration(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	odd := func() string {
		if r.IntN(30) > 0 {
			return ""
		}
		return pick("\\", "\"", "#", ";", "]", "[", "=", "\r", "\n", "\r\n", "\\\n", "\\\r\n", "\x00", "\f", "\v", "\u00a0", "\u0085", "\ufeff", " ", "\t", ".", "\"\"", "[include]path=x", "\n[alias]\n", "x = y")
	}
	keys := map[string][]string{"core": {"filemode", "bare", "FileMode", "eol"}, "remote": {"url", "fetch", "pushURL"}, "branch": {"merge", "remote"}, "user": {"name", "email"}, "Core": {"abbrev"}, "include": {"path"}}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		name, sub := pick("core", "core", "Core", "remote", "remote", "branch", "user", "include"), ""
		if name == "remote" || name == "branch" || r.IntN(20) == 0 {
			sub = pick(" ", " ", " ", "\t", "  ") + `"` + pick("origin", "a b", "a.b") + odd() + `"`
		}
		b.WriteString(odd() + "[" + name + odd() + sub + odd() + "]" + odd() + pick("\n", "\n", "\n", "\n", "\r\n", " "))
		for range r.IntN(3) {
			key := pick(keys[name]...)
			if r.IntN(20) == 0 {
				key = pick("fsmonitor", "pager", "path", "promisor")
			}
			b.WriteString(pick("\t", "\t", "", " ") + key + odd() + pick(" = ", "=", " =\t") + odd() + pick("true", "x", "+refs/heads/*:refs/remotes/o/*", "https://example.com/x", "a b", "") + odd() + pick("\n", "\n", "\n", "\n", "\r\n", " "))
		}
	}
	return b.String()
}

// FuzzSettled is the same, with files that a fuzzer makes.
func FuzzSettled(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed")
	}
	r := rand.New(rand.NewPCG(2, 5))
	for range 20 {
		f.Add(configuration(r))
	}
	f.Fuzz(func(t *testing.T, text string) { settled(t, text) })
}
