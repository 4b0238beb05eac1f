package edit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPatch(t *testing.T) {
	names := regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	for _, c := range []struct {
		name  string
		file  File
		want  string
		plain func(string) bool
	}{
		{name: "edit", file: File{Name: "dir/a.go", Old: "1\n2\n3\n4\n5\n6\n7\n8\n9\n", New: "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"}, want: `diff --git a/dir/a.go b/dir/a.go
index N..N 100644
--- a/dir/a.go
+++ b/dir/a.go
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
`},
		{name: "made", file: File{Name: "run me.sh", Created: true, Executable: true, New: "#!/bin/sh"}, want: `diff --git "a/run me.sh" "b/run me.sh"
new file mode 100755
index 0..N
--- /dev/null
+++ "b/run me.sh"
@@ -0,0 +1 @@
+#!/bin/sh
\ No newline at end of file
`},
		{name: "made empty", file: File{Name: "naïve\t\"\\\x7f", Created: true}, want: `diff --git "a/na\303\257ve\t\"\\\177" "b/na\303\257ve\t\"\\\177"
new file mode 100644
index 0..N
`},
		{name: "carriage returns", file: File{Name: "x", Old: "1\r\n2\r\n", New: "1\r\n2\n"}, want: `diff --git a/x b/x
index N..N 100644
--- a/x
+++ b/x
@@ -1,2 +1,2 @@
 1` + "\r" + `
-2` + "\r" + `
+2
`},
		{name: "byte order mark", file: File{Name: "x", Old: "\ufeffold\n", New: "\ufeffnew\n"}, plain: func(s string) bool { return !strings.Contains(s, "\ufeff") },
			want: "diff --git a/x b/x\nindex N..N 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\ufeffold\n+\ufeffnew\n"},
		{name: "control character", file: File{Name: "x", Old: "", New: "\x1b[31m"}, want: "diff --git a/x b/x\nindex N..N 100644\n" + "GIT binary patch\nliteral 5\n"},
		{name: "not plain", file: File{Name: "x", Old: "", New: "hidden"}, plain: func(s string) bool { return !strings.Contains(s, "hidden") },
			want: "diff --git a/x b/x\nindex N..N 100644\n" + "GIT binary patch\nliteral 6\n"},
		{name: "no change", file: File{Name: "x", Old: "same", New: "same"}},
	} {
		got := Patch([]File{c.file}, c.plain)
		got = names.ReplaceAllString(strings.Replace(got, strings.Repeat("0", 40), "0", 1), "N")
		if i := strings.Index(got, "literal "); i >= 0 { // git is the judge of what follows
			got = got[:i+strings.IndexByte(got[i:], '\n')+1]
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A repo is a directory in which git apply is the judge of patches.
type repo struct {
	t   testing.TB
	dir string
}

func newRepo(t testing.TB) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return repo{t, t.TempDir()}
}

func (r repo) apply(patch string, args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"apply", "--whitespace=nowarn"}, args...)...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.dir), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git apply %v: %v\n%s\n%s", args, err, out, patch)
	}
}

func (r repo) write(f File) {
	r.t.Helper()
	path := filepath.Join(r.dir, f.Name)
	mode := os.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(f.Old), mode); err != nil {
		r.t.Fatal(err)
	}
}

// holds checks that a file has a content, and is executable as it should be.
func (r repo) holds(f File, want string) {
	r.t.Helper()
	path := filepath.Join(r.dir, f.Name)
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if string(b) != want || info.Mode()&0o100 != 0 != f.Executable {
		r.t.Errorf("%q holds %q, %v; want %q, executable %v", f.Name, b, info.Mode(), want, f.Executable)
	}
}

// What git makes of a patch is the new bytes, and on the way back the old.
func TestPatchApplies(t *testing.T) {
	pieces := []string{"a\n", "b\n", "c\n", "func main() {\n", "}\n", "\n", "\t\n", "x\r\n", "\r\n", "\r", "no end", "é\n", "\xff\n", "\x00", "\x1b[0m\n",
		"diff --git a/a b/a\n", "--- a/a\n", "+++ b/b\n", "@@ -1 +1 @@\n", "-- \n", "\\ No newline at end of file\n", "\u202e\n", "\ufeff"}
	names := []string{"plain", "sub/dir/file.go", "a b", " lead", "trail ", "näme", "tab\t", "new\nline", "quote\"", "back\\slash", "a/b/a", "b/x b/x", "-n", "日本", "\xff\xfe", "$HOME", "a => b", "{x}", "*"}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		text := func() string {
			var b strings.Builder
			for range rng.IntN(30) {
				b.WriteString(pieces[rng.IntN(len(pieces)-rng.IntN(len(pieces)))])
			}
			return b.String()
		}
		r := newRepo(t)
		if seed%2 == 0 { // it is a repository
			cmd := exec.Command("git", "init", "-q", r.dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		var files []File
		for i, at := range rng.Perm(len(names))[:1+rng.IntN(6)] {
			f := File{Name: fmt.Sprintf("%d/%s", i, names[at]), Created: rng.IntN(3) == 0, Executable: rng.IntN(3) == 0, New: text()}
			if !f.Created {
				f.Old = text()
				if rng.IntN(2) == 0 { // mostly the same
					lines := split(f.Old)
					if n := len(lines); n > 0 {
						lines[rng.IntN(n)] = text()
					}
					f.New = strings.Join(lines, "")
				}
				r.write(f)
			}
			files = append(files, f)
		}
		patch := Patch(files, nil)
		if patch == "" {
			continue
		}
		r.apply(patch)
		for _, f := range files {
			r.holds(f, f.New)
		}
		r.apply(patch, "-R")
		for _, f := range files {
			if !f.Created {
				r.holds(f, f.Old)
			} else if _, err := os.Lstat(filepath.Join(r.dir, f.Name)); err == nil {
				t.Errorf("%q is still there", f.Name)
			}
		}
	}
}

// A patch is text that shows all it holds, and git takes it.
func FuzzPatch(f *testing.F) {
	f.Add("name", "a\nb\n", "a\nc\n", false, false)
	f.Add("odd \"na\\me\t\xff", "", "x", true, true)
	f.Add("a/b", "\r\n\x00", "\x1b\x9b\u009b\r", false, true)
	f.Fuzz(func(t *testing.T, name, old, text string, made, exe bool) {
		for part := range strings.SplitSeq(name, "/") {
			if part == "" || part == "." || part == ".." || len(part) > 200 || strings.Contains(strings.ToLower(part), "git") {
				return // no name, or none that git touches
			}
		}
		if len(name) > 1000 || strings.ContainsAny(name, "\x00") || !made && old == text {
			return
		}
		if made {
			old = ""
		}
		file := File{Name: name, Created: made, Executable: exe, Old: old, New: text}
		patch := Patch([]File{file}, nil)
		if !utf8.ValidString(patch) {
			t.Fatalf("not text: %q", patch)
		}
		for _, r := range strings.ReplaceAll(patch, "\r\n", "\n") {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%U in %q", r, patch)
			}
		}
		r := newRepo(t)
		if !made {
			r.write(file)
		}
		r.apply(patch)
		r.holds(file, text)
		r.apply(patch, "-R")
		if !made {
			r.holds(file, old)
		}
	})
}
