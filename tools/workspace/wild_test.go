package workspace

import (
	"fmt"
	"strings"
	"testing"
)

// plainly is wild without any care for time, for patterns of letters, stars
// and slashes.
func plainly(pattern, name string, before byte) bool {
	if pattern == "" {
		return name == ""
	}
	c := pattern[0]
	if c != '*' {
		return name != "" && name[0] == c && plainly(pattern[1:], name[1:], c)
	}
	rest := strings.TrimLeft(pattern, "*")
	deep := len(pattern)-len(rest) > 1 && (before == 0 || before == '/') && (rest == "" || rest[0] == '/')
	if deep && rest != "" && plainly(rest[1:], name, '/') {
		return true
	}
	for i := 0; i <= len(name); i++ {
		if plainly(rest, name[i:], '*') {
			return true
		}
		if i < len(name) && name[i] == '/' && !deep {
			return false
		}
	}
	return false
}

// words returns all texts of the letters, up to a length.
func words(letters string, longest int) []string {
	all, last := []string{""}, []string{""}
	for range longest {
		var next []string
		for _, w := range last {
			for _, c := range letters {
				next = append(next, w+string(c))
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// All short patterns match all short names as they should.
func TestWildPlainly(t *testing.T) {
	patterns, names := words("a*/", 7), words("a/", 5)
	for _, p := range patterns {
		for _, n := range names {
			if got, want := wildmatch(p, n), plainly(p, n, 0); got != want {
				t.Fatalf("%q and %q: %v, want %v", p, n, got, want)
			}
		}
	}
	for _, p := range words("ab*", 7) {
		for _, n := range words("ab", 4) {
			if got, want := wildmatch(p, n), plainly(p, n, 0); got != want {
				t.Fatalf("%q and %q: %v, want %v", p, n, got, want)
			}
		}
	}
}

// However hostile, a pattern takes no more steps than it and the name have
// bytes, multiplied.
func TestWildSteps(t *testing.T) {
	for _, p := range []string{"*a*a*a*b", "*a*a*b*a", "**/a*", "*/", "**/*/", "a*", "*?", "*[ab]", "*[!a]*", "**/*a*a/", "[a-", "*[[:", "**/**/a", "*a**a", `*\a`, `**\/a`, "a/**/"} {
		for _, n := range []string{"a", "ab", "a/", "aa/", "a/b/", "aaaaaaaaaa/"} {
			for _, times := range []int{1, 10, 100} {
				for _, end := range []string{"", "b", "*b", "/b", "*b/x"} {
					m := matcher{pattern: strings.Repeat(p, times) + end, name: strings.Repeat(n, 300) + "/x"}
					m.match(0, 0)
					if most := 4 * (len(m.pattern) + 1) * (len(m.name) + 1); m.steps > most {
						t.Errorf("%d times %q, %q, and %q: %d steps, want %d at most", times, p, end, n, m.steps, most)
					}
				}
			}
		}
	}
}

// Names and paths, of which there may be very many, are not tried one by one;
// of what is tried only so much counts, and somebody is told.
func TestRulesOfAFile(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "name%d\n/a/path%d\n!x/y%d/\n", i, i, i)
	}
	s := parseRules([]byte(b.String() + "*.log\n"))
	if len(s.all) != 300_001 || len(s.other) != 1 || s.cut {
		t.Errorf("%d rules, %d of them to be tried, %v", len(s.all), len(s.other), s.cut)
	}
	for name, want := range map[string]bool{"b/name7": true, "a/path99999": true, "b/a/path5": false, "x.log": true, "y.c": false} {
		if r := s.last(name, false); (r != nil && !r.not) != want {
			t.Errorf("%s: %v", name, r)
		}
	}
	if r := s.last("x/y3", true); r == nil || !r.not {
		t.Errorf("%v", r)
	}

	text := "first*x\n" + strings.Repeat("a*b*c\n", maxWild/5) + "last\n"
	dir := tree(t, map[string]string{".gitignore": text, "first.x": "", "last": ""})
	w := open(t, Config{Roots: []string{dir}, RespectGit: true})
	if !w.Ignore.Names(dir+"/first.x", false) || w.Ignore.Names(dir+"/last", false) {
		t.Error("what counts is not what comes first")
	}
	if all := w.Ignore.Problems(); len(all) != 1 || !strings.Contains(all[0], "counts in part") {
		t.Errorf("%q", all)
	}
}
