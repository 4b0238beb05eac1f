package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	et "gemline/engine/enginetest"
)

// git runs git in dir, untouched by what the user has configured.
func git(t testing.TB, dir, in string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Stdin = strings.NewReader(in)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "XDG_CONFIG_HOME="+dir)
	out, err := c.Output()
	if ee, ok := err.(*exec.ExitError); ok && !(args[0] == "check-ignore" && ee.ExitCode() == 1) {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, ee.Stderr)
	} else if !ok && err != nil {
		t.Skip("git is needed:", err)
	}
	return string(out)
}

// TestIgnoreAsGit compares with what git says, in random trees with random
// ignore files.
func TestIgnoreAsGit(t *testing.T) {
	rounds := et.Rounds(20, 300)
	rng := et.Random(t, 0)
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	names := []string{"a", "b", "foo", "bar", "x.go", "y.log", "build", ".hid", "a b", "é", "foo.d", "[x]", "ab", "!a", "#c", "A", "{a,b}", "\xff", "a ", "-", "a\\b"}
	atoms := []string{"a", "b", "*", "?", "**", "/", "/", "/", "foo", ".", "[ab]", "[!a]", "[^a]", "[a-c]", "[]a]", "[[:alpha:]]", "[[:x:]]", "[a", "\\", "\\a", "x.go", "é", "??", "{a,b}", " ", "-", "[\\]]", "[--0]", "]", "\r", "\t", "!", "#"}
	whole := []string{"a", "/a", "a/", "*.go", "*.log", "!x.go", "foo/**", "**/bar", "a/**/b", "/foo/bar", "foo/bar/", "b*", "!b", "?", "\\!a", "\\#c", "#c", "a b", "a\\ ", "a ",
		"**", "/*", "!/foo", "/**/x.go", "foo*/", "*", "!*/", "!*.go", "[[]x]", "**foo", "foo**", "a/*", "*/b", "!build/", "??", "\\", "/", "//", "!", "a//b", "**/", "/**", "***", "a/***/b", "*/*/x.go", "a\\", "a/\\b", "*\\", "\xff", "?\xa9", "[\xc3]*", "a\x00b"}
	lines := func() string {
		var s strings.Builder
		if rng.IntN(10) == 0 {
			s.WriteString("\ufeff")
		}
		for range rng.IntN(5) {
			if rng.IntN(2) == 0 {
				s.WriteString(pick(whole))
			} else {
				if rng.IntN(4) == 0 {
					s.WriteByte('!')
				}
				for range 1 + rng.IntN(4) {
					s.WriteString(pick(atoms))
				}
			}
			s.WriteString(pick([]string{"\n", "\n", "\n", "\r\n", " \n"}))
		}
		return s.String()
	}
	checks := 0
	for round := range rounds {
		dir := tree(t, nil)
		git(t, dir, "", "init", "-q")
		var paths []string
		var fill func(rel string, depth int)
		fill = func(rel string, depth int) {
			for _, n := range names {
				p := filepath.Join(rel, n)
				full := filepath.Join(dir, p)
				if rng.IntN(3) == 0 {
					continue
				}
				if depth < 2 && rng.IntN(3) == 0 {
					if err := os.Mkdir(full, 0o777); err != nil {
						continue // not a name here
					}
					fill(p, depth+1)
				} else if os.WriteFile(full, nil, 0o666) != nil {
					continue
				}
				paths = append(paths, p)
			}
			if depth == 0 || rng.IntN(3) == 0 {
				os.WriteFile(filepath.Join(dir, rel, ".gitignore"), []byte(lines()), 0o666)
			}
		}
		fill("", 0)
		os.WriteFile(filepath.Join(dir, ".git/info/exclude"), []byte(lines()), 0o666)
		want := map[string]bool{}
		for p := range strings.SplitSeq(git(t, dir, strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
			want[p] = true
		}
		root := dir
		if sub, err := os.Stat(filepath.Join(dir, "foo")); err == nil && sub.IsDir() && !want["foo"] && round%2 == 1 {
			root = filepath.Join(dir, "foo") // rules from above the root hold, too
		}
		w := open(t, Config{Roots: []string{root}, RespectGit: true})
		walked := map[string]bool{}
		for e, err := range w.Walk(t.Context(), root, WalkOptions{Dirs: true}) {
			if err != nil {
				t.Fatal(err)
			}
			walked[e.Path] = true
		}
		for _, p := range paths {
			full := filepath.Join(dir, p)
			if _, ok := below(root, full); !ok || full == root {
				continue
			}
			checks++
			info, err := os.Stat(full)
			if err != nil {
				t.Fatal(err)
			}
			got := w.Ignore.Names(full, info.IsDir())
			if got != want[p] || walked[full] == want[p] {
				var all strings.Builder
				for d := p; ; d = filepath.Dir(d) {
					if b, err := os.ReadFile(filepath.Join(dir, d, ".gitignore")); err == nil {
						fmt.Fprintf(&all, "%s: %q\n", d, b)
					}
					if d == "." {
						break
					}
				}
				b, _ := os.ReadFile(filepath.Join(dir, ".git/info/exclude"))
				t.Fatalf("round %d: %q ignored: %v, walked: %v; git says %v\n%sexclude: %q", round, p, got, walked[full], want[p], all.String(), b)
			}
		}
	}
	t.Log(checks, "paths compared")
}

// What is in brackets stands for the characters that git takes it for.
func TestBracketsAsGit(t *testing.T) {
	brackets := []string{"[[:alpha]", "[[:alpha:x]", "[a-\\d]", "[\\[-\\]]", "[![:digit:]]", "[[:alpha:]-z]", "[a-[:digit:]]", "[[:ALPHA:]]"}
	for _, name := range []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"} {
		brackets = append(brackets, "[[:"+name+":]]")
	}
	dir := tree(t, nil)
	git(t, dir, "", "init", "-q")
	var paths strings.Builder
	for i, b := range brackets {
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := errors.Join(os.Mkdir(at, 0o777), os.WriteFile(filepath.Join(at, ".gitignore"), []byte(b+"\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
		for c := byte(1); c < 0x80; c++ {
			if c != '/' && c != '.' {
				fmt.Fprintf(&paths, "%d/%c\x00", i, c)
			}
		}
	}
	ignored := "\x00" + git(t, dir, paths.String(), "check-ignore", "--no-index", "-z", "--stdin")
	for path := range strings.SplitSeq(strings.TrimSuffix(paths.String(), "\x00"), "\x00") {
		i, name, _ := strings.Cut(path, "/")
		n, _ := strconv.Atoi(i)
		if got, want := wildmatch(brackets[n], name), strings.Contains(ignored, "\x00"+path+"\x00"); got != want {
			t.Errorf("%s and %q: %v; git says %v", brackets[n], name, got, want)
		}
	}
}

// The first of the named ignore files is the strongest, then comes
// .geminiignore, then what git reads. What none speaks of is seen.
func TestStrength(t *testing.T) {
	for _, c := range []struct{ first, second, gemini, git, want string }{
		{"", "", "", "a", "ignored"},
		{"", "", "!a", "a", "seen"},
		{"", "", "\xff\xfea\x00\r\x00\n\x00", "", "ignored"}, // UTF-16
		{"", "!a", "a", "", "seen"},
		{"", "a", "!a", "!a", "ignored"},
		{"!a", "a", "a", "a", "seen"},
		{"a", "!a", "!a", "!a", "ignored"},
		{"b\n!a\na", "!a", "", "", "ignored"},
		{"", "", "", "", "seen"},
		{"!a", "", "", "dir/", "seen"},
	} {
		dir := tree(t, map[string]string{"a": "", "1": c.first, "2": c.second, ".geminiignore": c.gemini, ".gitignore": c.git, ".git/HEAD": "", "dir/a": ""})
		w := open(t, Config{Roots: []string{dir}, RespectGit: true, RespectGemini: true, IgnoreFiles: []string{"1", filepath.Join(dir, "2")}})
		if got := w.Ignore.Names(filepath.Join(dir, "a"), false); got != (c.want == "ignored") {
			t.Errorf("%+v: ignored: %v", c, got)
		}
		if c.git == "dir/" && !w.Ignore.Names(filepath.Join(dir, "dir", "a"), false) {
			t.Errorf("%+v: what is in an ignored directory is seen", c)
		}
		if got := w.Ignore.Problems(); got != nil {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestComplaints(t *testing.T) {
	dir := tree(t, map[string]string{"one/here": "a", "two/": "", "one/directory/": "", "two/.geminiignore/": "", "one/.geminiignore": "a"})
	if err := os.Truncate(filepath.Join(dir, "one", "here"), maxRules+1); err != nil {
		t.Fatal(err)
	}
	grow(t, dir, map[string]string{"two/there": "a"})
	cfg := Config{Roots: []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}, RespectGemini: true, IgnoreFiles: []string{"there", "nowhere", "directory", filepath.Join(dir, "gone"), "here"}}
	want := []string{"ignore file nowhere hides nothing: file does not exist", "ignore file directory hides nothing: is a directory",
		"ignore file " + filepath.Join(dir, "gone") + " hides nothing: file does not exist", fmt.Sprintf("ignore file here hides nothing: it has more than %d bytes", maxRules),
		"ignore file " + filepath.Join(dir, "two", ".geminiignore") + " hides nothing: is a directory"}
	if d := cmp.Diff(want, open(t, cfg).Ignore.Problems()); d != "" {
		t.Error(d)
	}
	cfg.RespectGemini, cfg.IgnoreFiles = false, nil
	if got := open(t, cfg).Ignore.Problems(); got != nil {
		t.Errorf("%q", got)
	}
}
