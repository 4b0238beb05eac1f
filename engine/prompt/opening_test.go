package prompt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plant makes empty files, and directories where the name ends in a slash.
func plant(t *testing.T, names ...string) string {
	t.Helper()
	top := t.TempDir()
	for _, n := range names {
		path := filepath.Join(top, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if strings.HasSuffix(n, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestOpening(t *testing.T) {
	a := plant(t, "b.txt", "a.txt", "src/foo.js", "src/deep/x.go", ".git/config", "empty/", "out.log", "build/x.o")
	b := plant(t, "only")
	cfg := Config{Environment: Environment{Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), OS: "linux", Temp: "/h/.gemini/tmp/app", Tree: true, Roots: []string{a, b},
		Ignored: func(path string, dir bool) bool {
			return strings.HasSuffix(path, ".log") || dir && filepath.Base(path) == "build"
		}},
		Context: Context{Extension: "from an extension", Project: "from the project"}}
	c := Opening(t.Context(), cfg)
	if c.Role != "user" || len(c.Parts) != 1 {
		t.Fatalf("%+v", c)
	}
	got := strings.NewReplacer(filepath.ToSlash(a), "/src/app", filepath.ToSlash(b), "/src/lib").Replace(filepath.ToSlash(c.Parts[0].Text))
	golden(t, "opening", got)
	env := &cfg.Environment
	env.Tree, env.Roots, env.Temp, cfg.Context = false, env.Roots[:1], "", Context{}
	got = strings.ReplaceAll(Opening(t.Context(), cfg).Parts[0].Text, a, "/src/app")
	golden(t, "opening-short", got)
}

func TestTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		limit int
		want  string
	}{
		{"empty", nil, 10, "/\n"},
		{"files first", []string{"z", "a/b", "A"}, 10, "/\n├───A\n├───z\n└───a/\n    └───b\n"},
		{"one level before the next", []string{"a/x/1", "b/2", "c"}, 4, "/\n├───c\n├───a/\n│   └───x/...\n└───b/...\n"},
		{"cut in a directory", []string{"a/1", "a/2", "a/3"}, 3, "/\n└───a/\n    ├───1\n    ├───2\n    └───...\n"},
		{"cut at the top", []string{"1", "2", "3/x"}, 2, "/\n├───1\n├───2\n└───...\n"},
		{"exactly enough", []string{"1", "2"}, 2, "/\n├───1\n└───2\n"},
		{"never entered", []string{"node_modules/x", "dist/y", "__pycache__/z"}, 10, "/\n├───__pycache__/...\n├───dist/...\n└───node_modules/...\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plant(t, c.names...)
			got := strings.TrimPrefix(tree(t.Context(), root, c.limit, nil), filepath.ToSlash(root))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOddTrees(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		if got := tree(t.Context(), "/nosuch", 10, nil); got != "/nosuch/\n└───...\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		root := plant(t, "a/b/c/d")
		n := 0
		got := tree(ctx, root, 10, func(string, bool) bool { n++; cancel(); return false })
		if !strings.HasSuffix(got, "└───a/...\n") || n != 1 {
			t.Errorf("%q after %d looks", got, n)
		}
	})
	t.Run("names", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("not possible in names here")
		}
		root := plant(t, "a\nb", "\x1b[31m", "ok é")
		got := strings.TrimPrefix(tree(t.Context(), root, 10, nil), root)
		if want := "/\n├───\"\\x1b[31m\"\n├───\"a\\nb\"\n└───ok é\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("link in a circle", func(t *testing.T) {
		root := plant(t, "a/")
		if err := os.Symlink(root, filepath.Join(root, "a", "up")); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		if got := tree(t.Context(), root, 10, nil); !strings.HasSuffix(got, "└───a/\n    └───up\n") {
			t.Errorf("%q", got)
		}
	})
}

// TestLargeTree checks that the work depends on what is shown, not on what is
// there.
func TestLargeTree(t *testing.T) {
	root := t.TempDir()
	for i := range 60 {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i), "deep", "deeper")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 5 {
			os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o644)
		}
	}
	looks := 0
	got := tree(t.Context(), root, maxItems, func(string, bool) bool { looks++; return false })
	if n := strings.Count(got, "───") - strings.Count(got, "───..."); n != maxItems {
		t.Errorf("%d items are shown, want %d", n, maxItems)
	}
	if looks > 2*maxItems {
		t.Errorf("%d names were looked at", looks)
	}
}

func BenchmarkSystem(b *testing.B) {
	cfg := full()
	for b.Loop() {
		System(cfg)
	}
}
