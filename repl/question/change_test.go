package question

import (
	"strings"
	"testing"

	"gemline/repl/output"
)

// Short detail says where each change is, and shows all of each.
func TestBriefChange(t *testing.T) {
	c, ok := ParseChange("--- a\n+++ a\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -8,2 +9,1 @@\n 8\n-9\n\\ No newline at end of file\n")
	text, from := c.Unified(true)
	if want := "+0\n@@ line 9 @@\n-9\n\\ No newline at end of file"; !ok || text != want || from != 1 {
		t.Errorf("%v, from %d:\n%s", ok, from, text)
	}
}

func TestFunctionOfAChange(t *testing.T) {
	for where, want := range map[string]string{
		"func Count(s string) int {":               "function Count",
		"func (s *Store[T]) Put(k string) error {": "function Put",
		"def put(self):":                           "function put",
		"pub(crate) async fn run<T>(x: T) {":       "function run",
		"export default async function main() {":   "function main",
		"class Store(Base):":                       "class Store",
		"type Store struct {":                      "type Store",
		"The quick brown fox":                      "",
		"":                                         "",
	} {
		c, ok := ParseChange("--- a\n+++ a\n@@ -10 +10 @@ " + where + "\n-a\n+b\n")
		if got := c.Function(); !ok && where != "" || got != want {
			t.Errorf("%q: %q, want %q", where, got, want)
		}
	}
}

// A change is told in words, with long runs of blank lines as one, and cut to what is around it.
func TestSpokenChange(t *testing.T) {
	c, ok := ParseChange("--- a\n+++ a\n@@ -1,4 +1,7 @@ func A() {\n 1\n 2\n-3\n+\n+\n+ \n+x\n 4\n\\ No newline at end of file\n@@ -20 +24 @@ func B() {\n-\n+b\n@@ -40 +44 @@\n 40\n")
	want := "unchanged: 2: 2\nremoved: 3: 3\nadded: 3 to 5: 3 blank lines\nadded: 6: x\nunchanged: 7: 4\nthe line before this ends without a line end\nremoved: 20: blank\nadded: 24: b\nunchanged: 44: 40"
	if got := strings.Join(c.Around(1).Spoken(), "\n"); !ok || got != want {
		t.Errorf("%v:\n%s", ok, got)
	}
	if c.Function() != "" || c.Count() != "5 lines added, 2 removed" || CountLines(0, 0) != "no lines changed" || CountLines(0, 1) != "1 line removed" {
		t.Errorf("%q, %s", c.Function(), c.Count())
	}
	if brief, _ := c.Unified(true); strings.Contains(brief, "No newline") { // of a line that is not shown
		t.Errorf("%s", brief)
	}
	for _, hunk := range []string{"", "@@ -1 +1 @@\n\n", "@@ -1 +1 @@\n?a\n", "@@ -1,2 +1 @@\n-a\n"} {
		if c, ok := ParseChange("--- a\n+++ a\n" + hunk); ok {
			t.Errorf("%q: %+v", hunk, c)
		}
	}
}

// What is taken apart is a diff whose lines are all there, or nothing.
func FuzzParseChange(f *testing.F) {
	f.Add("--- a\tCurrent\n+++ a\tProposed\n@@ -10,3 +10,4 @@ func Put() {\n a\n-b\n+c\n+d\n e\n")
	f.Add("--- a\n+++ a\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n")
	f.Add("--- a\n+++ a\n@@ -1,99999999999999999999 +1 @@\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := ParseChange(s)
		if !ok {
			return
		}
		n := 2
		for _, h := range c.hunks {
			n += 1 + len(h.lines)
		}
		if want := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1; n != want {
			t.Errorf("%d lines of %d", n, want)
		}
		all, _ := c.Unified(false)
		for _, l := range c.Spoken() {
			if strings.Contains(l, "\n") {
				t.Errorf("%q is more than a line", l)
			}
		}
		c.Unified(true)
		c.Function()
		if output.Sanitize(all) == "" && len(c.hunks) > 0 {
			t.Error("nothing is shown")
		}
	})
}
