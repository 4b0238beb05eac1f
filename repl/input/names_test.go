package input

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/tools/workspace"
)

// tree makes files, and returns a workspace of them.
func tree(t testing.TB, files ...string) *workspace.Workspace {
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("*.log\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.New(workspace.Config{Roots: []string{dir}, RespectGit: true, RespectGemini: true})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestNames(t *testing.T) {
	w := tree(t, ".geminiignore", ".hidden", "main.go", "make.sh", "out.log", "src/main/app.go", "src/my file.txt", "src/mail/deep/x.go", "docs/readme.md")
	tests := []struct {
		name  string
		fuzzy bool
		want  string
	}{
		{"", false, "docs/ main.go make.sh src/"},
		{"ma", false, "main.go make.sh"},
		{".h", false, ".hidden"},
		{"o", false, ""},
		{"src/", false, "src/mail/ src/main/ src/my file.txt"},
		{"src/ma", false, "src/mail/ src/main/"},
		{"./ma", false, "./main.go ./make.sh"},
		{"../", false, ""},
		{"nowhere/", false, ""},
		{"/", true, ""},
		{w.Roots()[0] + "/ma", false, w.Roots()[0] + "/main.go " + w.Roots()[0] + "/make.sh"},
		{"go", true, "main.go src/main/app.go src/mail/deep/x.go .geminiignore"},
		{"xyz", true, ""},
		{"rdme", true, "docs/readme.md"},
		{"rdme", false, ""},
		{"appgo", true, "src/main/app.go"},
	}
	for _, tt := range tests {
		var got []string
		for _, n := range (Names{w, tt.fuzzy}).Complete(t.Context(), tt.name) {
			if n.Dir {
				n.Path += "/"
			}
			got = append(got, n.Path)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A large tree is not gone through for a name in one of its directories, and
// what takes too long is given up.
func TestNamesInALargeTree(t *testing.T) {
	size := 2000
	if os.Getenv("GEMLINE_TEST_LARGE") != "" {
		size = 100_000
	}
	var files []string
	for i := range size {
		files = append(files, fmt.Sprintf("d%d/e%d/file%d.txt", i%50, i%700, i))
	}
	w := tree(t, append(files, "d7/wanted.txt")...)
	began := time.Now()
	found := Names{w, true}.Complete(t.Context(), "d7/w")
	t.Logf("a name in a tree of %d: %v", size, time.Since(began))
	if len(found) != 1 || found[0].Path != "d7/wanted.txt" {
		t.Errorf("%+v", found)
	}
	began = time.Now()
	found = Names{w, true}.Complete(t.Context(), "wntd")
	t.Logf("a similar one: %v", time.Since(began))
	if len(found) != 1 || found[0].Path != "d7/wanted.txt" {
		t.Errorf("similar: %+v", found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := (Names{w, true}).Complete(ctx, "wntd"); len(found) > 0 {
		t.Errorf("given up: %+v", found)
	}
}

func TestLikeness(t *testing.T) {
	if likeness("a/b.go", []rune("bx")) != 0 || likeness("", []rune("a")) != 0 {
		t.Error("letters that are not there")
	}
	better := [][3]string{{"main", "main.go", "my/ancient/ink.go"}, {"fb", "fooBar.go", "fab.go"}, {"go", "x/go.md", "go/x.md"}}
	for _, b := range better {
		if w := []rune(b[0]); likeness(b[1], w) <= likeness(b[2], w) {
			t.Errorf("%q: %s has %d, %s %d", b[0], b[1], likeness(b[1], w), b[2], likeness(b[2], w))
		}
	}
}
