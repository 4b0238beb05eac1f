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
		{name: "edit", file: File{Name: "dir/a.go", OldMode: plainMode, NewMode: plainMode, Old: "1\n2\n3\n4\n5\n6\n7\n8\n9\n", New: "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"}, want: `diff --git a/dir/a.go b/dir/a.go
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
		{name: "made", file: File{Name: "run me.sh", NewMode: executableMode, New: "#!/bin/sh"}, want: `diff --git "a/run me.sh" "b/run me.sh"
new file mode 100755
index 0..N
--- /dev/null
+++ "b/run me.sh"
@@ -0,0 +1 @@
+#!/bin/sh
\ No newline at end of file
`},
		{name: "made empty", file: File{Name: "naïve\t\"\\\x7f", NewMode: plainMode}, want: `diff --git "a/na\303\257ve\t\"\\\177" "b/na\303\257ve\t\"\\\177"
new file mode 100644
index 0..N
`},
		{name: "carriage returns", file: File{Name: "x", OldMode: plainMode, NewMode: plainMode, Old: "1\r\n2\r\n", New: "1\r\n2\n"}, want: `diff --git a/x b/x
index N..N 100644
--- a/x
+++ b/x
@@ -1,2 +1,2 @@
 1` + "\r" + `
-2` + "\r" + `
+2
`},
		{name: "byte order mark", file: File{Name: "x", OldMode: plainMode, NewMode: plainMode, Old: "\ufeffold\n", New: "\ufeffnew\n"}, plain: func(s string) bool { return !strings.Contains(s, "\ufeff") },
			want: "diff --git a/x b/x\nindex N..N 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\ufeffold\n+\ufeffnew\n"},
		{name: "control character", file: File{Name: "x", OldMode: plainMode, NewMode: plainMode, Old: "", New: "\x1b[31m"}, want: "diff --git a/x b/x\nindex N..N 100644\n" + "GIT binary patch\nliteral 5\n"},
		{name: "not plain", file: File{Name: "x", OldMode: plainMode, NewMode: plainMode, Old: "", New: "hidden"}, plain: func(s string) bool { return !strings.Contains(s, "hidden") },
			want: "diff --git a/x b/x\nindex N..N 100644\n" + "GIT binary patch\nliteral 6\n"},
		{name: "no change", file: File{Name: "x", OldMode: plainMode, NewMode: plainMode, Old: "same", New: "same"}},
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
	if f.OldMode == executableMode {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.t.Fatal(err)
	}
	err := os.WriteFile(path, []byte(f.Old), mode)
	if f.OldMode == linkMode {
		os.Remove(path)
		err = os.Symlink(f.Old, path)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// holds checks that a file has a mode and a content.
func (r repo) holds(f File, mode, want string) {
	r.t.Helper()
	path := filepath.Join(r.dir, f.Name)
	info, err := os.Lstat(path)
	if mode == "" && err != nil {
		return
	} else if err != nil {
		r.t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if to, lerr := os.Readlink(path); lerr == nil {
		b, err = []byte(to), nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if is := GitMode(info.Mode()); string(b) != want || is != mode {
		r.t.Errorf("%q holds %q, %v; want %q, %q", f.Name, b, is, want, mode)
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
			modes := []string{plainMode, plainMode, executableMode, linkMode, ""}
			mode := func() (mode, content string) {
				if mode = modes[rng.IntN(len(modes))]; mode == linkMode {
					return mode, names[rng.IntN(len(names))]
				} else if mode != "" {
					content = text()
				}
				return mode, content
			}
			f := File{Name: fmt.Sprintf("%d/%s", i, names[at])}
			f.OldMode, f.Old = mode()
			f.NewMode, f.New = mode()
			if f.OldMode == "" && f.NewMode == "" {
				continue
			}
			if f.OldMode != "" {
				if rng.IntN(2) == 0 && f.OldMode != linkMode && f.NewMode != linkMode && f.NewMode != "" { // mostly the same
					lines := split(f.Old)
					if n := len(lines); n > 0 && rng.IntN(3) > 0 {
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
			r.holds(f, f.NewMode, f.New)
		}
		r.apply(patch, "-R")
		for _, f := range files {
			r.holds(f, f.OldMode, f.Old)
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
		file := File{Name: name, NewMode: plainMode, Old: old, New: text}
		if exe {
			file.NewMode = executableMode
		}
		if !made {
			file.OldMode = file.NewMode
		}
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
		r.holds(file, file.NewMode, text)
		r.apply(patch, "-R")
		r.holds(file, file.OldMode, old)
	})
}
