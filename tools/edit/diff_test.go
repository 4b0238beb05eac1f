package edit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, test := range []struct {
		name, old, text, want string
		stat                  Stat
	}{
		{"same", "a\n", "a\n", "", Stat{}},
		{"both empty", "", "", "", Stat{}},
		{"created", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n", Stat{2, 0}},
		{"emptied", "a\n", "", "@@ -1 +0,0 @@\n-a\n", Stat{0, 1}},
		{"one line", "a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n", Stat{1, 1}},
		{"middle", ten, strings.Replace(ten, "5\n", "five\n", 1), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n", Stat{1, 1}},
		{"start and end", ten, "0\n" + ten + "11\n", "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -8,3 +9,4 @@\n 8\n 9\n 10\n+11\n", Stat{2, 0}},
		{"near ones together", ten, strings.NewReplacer("2\n", "", "9\n", "nine\n").Replace(ten),
			"@@ -1,10 +1,9 @@\n 1\n-2\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+nine\n 10\n", Stat{1, 2}},
		{"final newline", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", Stat{1, 1}},
		{"CRLF is not shown", "a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", Stat{1, 1}},
		{"change of endings is shown", "a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n", Stat{1, 1}},
		{"dashes", "-- a\n", "++ b\n", "@@ -1 +1 @@\n--- a\n+++ b\n", Stat{1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want != "" {
				test.want = "--- old\n+++ new\n" + test.want
			}
			got, stat := Diff("old", "new", test.old, test.text)
			if got != test.want || stat != test.stat {
				t.Errorf("got %v\n%q; want %v\n%q", stat, got, test.stat, test.want)
			}
		})
	}
	if got := (Stat{3, 1}).String(); got != "+3 -1" {
		t.Errorf("got %s", got)
	}
}

// A diff is what git understands: applied to one text it gives the other.
func TestDiffApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for seed := range uint64(12) {
		old, text := variant(rand.New(rand.NewPCG(seed, 1)), 5+int(seed*seed)*10)
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		diff, _ := Diff("a/f", "b/f", old, text)
		if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got, _ := os.ReadFile(file); string(got) != text {
			t.Errorf("seed %d: git makes another text of it", seed)
		}
	}
}

// variant returns a text of n lines, of which many are alike, and one that
// differs in about a fifth of them.
func variant(rng *rand.Rand, n int) (old, text string) {
	var a, b []string
	for i := range n {
		line := fmt.Sprintf("line %d\n", rng.IntN(1+n/2))
		if i%7 == 0 {
			line = "}\n"
		}
		a = append(a, line)
		switch rng.IntN(15) {
		case 0:
			b = append(b, "changed "+line)
		case 1:
		case 2:
			b = append(b, line, "more\n")
		default:
			b = append(b, line)
		}
	}
	return strings.Join(a, "") + "end", strings.Join(b, "") + "end\n"
}

func TestCompare(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		random := func() []string {
			lines := make([]string, rng.IntN(30))
			for i := range lines {
				lines[i] = string(rune('a' + rng.IntN(1+int(seed%20))))
			}
			return lines
		}
		a, b := random(), random()
		changes := compare(a, b)
		checkChanges(t, a, b, changes)
		size := 0
		for _, c := range changes {
			size += c.a1 - c.a0 + c.b1 - c.b0
		}
		if best := len(a) + len(b) - 2*common(a, b); len(a)+len(b) <= 40 && size != best {
			t.Errorf("%q to %q: %d lines differ; want %d", a, b, size, best)
		}
	}
}

// Looking at a part of the texts only must not show.
func TestWindow(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		random := func(n int) string {
			var b strings.Builder
			for range rng.IntN(n) {
				b.WriteString(string(rune('a'+rng.IntN(3))) + "\n"[rng.IntN(8)/7:])
			}
			return b.String()
		}
		head, tail := random(40), random(40)
		old, text := head+random(6)+tail, head+random(6)+tail
		if old == text {
			continue
		}
		start, a, b, behind := window(old, text)
		whole := compare(split(old), split(text))
		part := compare(a, b)
		for i := range part {
			part[i] = change{part[i].a0 + start, part[i].a1 + start, part[i].b0 + start, part[i].b1 + start}
		}
		if !slices.Equal(whole, part) {
			t.Fatalf("%q to %q: %v in a part, %v in all", old, text, part, whole)
		}
		last := whole[len(whole)-1]
		before, after := min(5, whole[0].a0), min(5, len(split(old))-last.a1)
		if start > whole[0].a0-before || start+len(a) < last.a1+after || behind != (start+len(a) < len(split(old))) {
			t.Fatalf("%q to %q: lines %d to %d, %v", old, text, start, start+len(a), behind)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nb")
	f.Add(strings.Repeat("a\nb\n", 50), strings.Repeat("b\nc\na\n", 40))
	f.Fuzz(func(t *testing.T, old, text string) {
		a, b := split(old), split(text)
		checkChanges(t, a, b, compare(a, b))
		Snippet(old, text)
		if diff, stat := Diff("a", "b", old, text); (diff == "") != (old == text) || (stat == Stat{}) != (old == text) {
			t.Errorf("got %v %q", stat, diff)
		}
		if got := KeepEndings(old, text); normal(got) != normal(text) && !strings.Contains(old+text, "\r\r") {
			t.Errorf("endings change the text: %q", got)
		}
	})
}

// checkChanges checks that changes make b of a and stand apart.
func checkChanges(t *testing.T, a, b []string, changes []change) {
	t.Helper()
	i, j := 0, 0
	for n, c := range append(changes, change{len(a), len(a), len(b), len(b)}) {
		if n > 0 && n < len(changes) && c.a0 == i {
			t.Errorf("nothing between changes in %v", changes)
		}
		if c.a0-i != c.b0-j || c.a0 < i || c.a1 < c.a0 || c.b1 < c.b0 {
			t.Fatalf("%q to %q: %v", a, b, changes)
		}
		for ; i < c.a0; i, j = i+1, j+1 {
			if a[i] != b[j] {
				t.Fatalf("%q to %q: %v", a, b, changes)
			}
		}
		i, j = c.a1, c.b1
	}
}

// common returns how long the longest common subsequence is.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// A hundred places in a long text are shown as a hundred, not as one.
func TestManyChangesStayApart(t *testing.T) {
	var a, b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&a, "line %d\n}\n", i)
		if fmt.Fprintf(&b, "line %d\n}\n", i); i%20 == 0 {
			b.WriteString("more\n")
		}
	}
	_, stat := Diff("a", "b", a.String(), b.String())
	if want := (Stat{250, 0}); stat != want {
		t.Errorf("got %v; want %v", stat, want)
	}
}

func TestSnippet(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("%d\n", i+1))
	}
	old := strings.Join(lines, "")
	edited := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(old) }
	for _, test := range []struct{ name, old, text, want string }{
		{"created", "", "a\r\nb\n", "a\nb\n"},
		{"same", "a\n", "a\n", "a\n"},
		{"emptied", "a\n", "", ""},
		{"short", "a\nb\n", "a\nc\n", "a\nc"},
		{"middle", old, edited("\n20\n", "\nx\ny\n"), "...\n15\n16\n17\n18\n19\nx\ny\n21\n22\n23\n24\n25\n..."},
		{"removed", old, edited("\n20\n", "\n"), "...\n15\n16\n17\n18\n19\n21\n22\n23\n24\n25\n..."},
		{"apart", old, edited("\n1\n", "\nx\n", "\n10\n", "\nx\n", "\n30\n", "\ny\n"),
			"...\n5\n6\n7\n8\n9\nx\n11\n12\n13\n14\n15\n...\n25\n26\n27\n28\n29\ny\n31\n32\n33\n34\n35\n..."},
		{"touching", old, edited("\n10\n", "\nx\n", "\n20\n", "\ny\n"),
			"...\n5\n6\n7\n8\n9\nx\n11\n12\n13\n14\n15\n16\n17\n18\n19\ny\n21\n22\n23\n24\n25\n..."},
		{"end", old, old + "x", "...\n36\n37\n38\n39\n40\nx"},
		{"endings do not count", "a\r\nb\r\nc\n", "a\nB\nc\n", "a\nB\nc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Snippet(test.old, test.text); got != test.want {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
	}
}

func TestPlaceholders(t *testing.T) {
	for _, test := range []struct {
		line string
		want bool
	}{
		{"rest of code ...", true},
		{"  // rest of methods ...", true},
		{"// (unchanged code ...)", true},
		{"(rest of ...)", true},
		{"Rest  of\tMethod...", true},
		{"//unchanged methods .....", true},
		{"// unchanged method ... ...\r", true},
		{"// rest of code", false},
		{"// the rest of code ...", true},
		{"// rest of code ... follows", false},
		{"rest of the story ...", false},
		{"...", false},
		{"x := append(y, z...)", false},
		{"// rest of code …", true},
		{"", false},

		{"// ... existing code ...", true},
		{"  # ... existing code ...", true},
		{"/* ... existing code ... */", true},
		{"<!-- ... existing content ... -->", true},
		{"{/* ... existing JSX ... */}", true},
		{"-- ... rest of the file ...", true},
		{"// … existing code …", true},
		{"// ...existing code...", true},
		{"// ... rest of code ...", true},
		{"// ... rest of the code remains the same ...", true},
		{"# ... (unchanged)", true},
		{"# ... unchanged ...", true},
		{"// ... (rest of the implementation) ...", true},
		{"// [... rest of the file unchanged ...]", true},
		{"<!-- ... rest of the page ... -->", true},
		{"// ... other methods ...", true},
		{"# ... keep existing imports ...", true},
		{"// ... remaining methods", true},
		{"// Existing imports...", true},
		{"// ... same as before ...", true},
		{"// ... code omitted for brevity ...", true},
		{"// rest of the code remains unchanged", true},
		{"# Rest of the function remains the same", true},
		{"// existing code here", true},
		{"// ... 20 more lines", true},
		{"# ... (12 other methods omitted)", true},
		{"// see 20 more lines ... below", false},
		{"// (existing code unchanged)", true},
		{"... existing code ...", true},
		{"; ... previous definitions ...", true},
		{"// ... more lines ...", true},

		{"// ...", false},
		{"# ... and so on", false},
		{"// Loading ...", false},
		{"// wait for the rest of the bytes", false},
		{"// the remaining lines are padding", false},
		{"# existing code", false},
		{"// Returns the previous value...", false},
		{"// see the other file ...", false},
		{"func f(args ...string) {", false},
		{"const [first, ...rest] = xs;", false},
		{"return { ...state, ...props };", false},
		{"# TODO: move existing code ... somewhere", false},
		{"log(\"... existing code ...\")", false},
		{"// removes existing files ... and makes new ones", false},
		{"// unchanged", false},
		{"...rest", false},
		{"...props", false},
		{"...options,", false},
		{"[...rest]", false},
		{"[... omitted ...]", true},
		{"... (rest of code) ...", true},
		{"...existing code...", true},
	} {
		if got := len(placeholders("a\n"+test.line+"\nb\n", false)) > 0; got != test.want {
			t.Errorf("%q: got %v", test.line, got)
		}
	}
	if HasPlaceholder("// rest of code ...\n", "a\n(REST OF CODE ...)\n") {
		t.Error("one that was there before is refused")
	}
	if !HasPlaceholder("// rest of code ...\n", "// rest of methods ...\n") {
		t.Error("another one is not refused")
	}
}

// TestShortPlaceholders sees that what takes the place of a text is not cut by a comment
// that only dots or a word make up.
func TestShortPlaceholders(t *testing.T) {
	for _, test := range []struct {
		text string
		want bool
	}{
		{"// ...", true},
		{"//...", true},
		{"\t// \u2026", true},
		{"# ...", true},
		{"  # ... ...", true},
		{"# [...]", true},
		{"// (...)", true},
		{"/* ... */", true},
		{"{/* ... */}", true},
		{"<!-- ... -->", true},
		{"-- ...", true},
		{";; ...", true},
		{"% ...", true},
		{"// ...\r", true},
		{"# --- snip ---", true},
		{"// -- snip --", true},
		{"-- snip --", true},
		{"// <snip>", true},
		{"# ===== rest of file =====", true},
		{"// same as before", true},
		{"// Same as above.", true},
		{"# as before", true},
		{"/* unchanged */", true},
		{"// unchanged", true},
		{"// code unchanged", true},
		{"// the rest is unchanged", true},
		{"# (unchanged)", true},
		{"// omitted for brevity", true},
		{"<!-- rest of file -->", true},
		{"# rest of the code", true},
		{"// no changes", true},
		{"// no changes below", true},
		{"// first\n// ...", true},

		{"...", false},
		{"    ...", false},
		{"def f(): ...", false},
		{"---\na: 1\n...", false},
		{"[...]", false},
		{"*   ...", false},
		{"* unchanged", false},
		{"//     ...", false},
		{"// first\n// ...\n// last", false},
		{"#   ...", false},
		{"\"\"\"...\"\"\"", false},
		{"f(...args)", false},
		{"...args,", false},
		{"Unchanged", false},
		{"The rest of the file is about dogs ...", false},
		{"// rest of the arguments", false},
		{"// the same as before, but sorted", false},
		{"// unchanged files keep their time", false},
		{"// --- tests ---", false},
		{"# --- code ---", false},
		{"// --------", false},
		{"#", false},
		{"x = 1 // ...", false},
		{"# REST", false},
		{"# resting", false},
		{"s := \"// ...\"", false},
	} {
		if got := HasPlaceholder("a\n", "a\n"+test.text+"\nb\n"); got != test.want {
			t.Errorf("%q: got %v", test.text, got)
		}
		if HasPlaceholder("z\n"+test.text+"\n", "a\n"+test.text+"\n") {
			t.Errorf("%q: refused though it was there", test.text)
		}
	}
	if HasPlaceholder("", "a\n// ...\nb\n") {
		t.Error("a new file may hold a comment of dots")
	}
}
