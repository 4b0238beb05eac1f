package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func walked(t testing.TB, w *Workspace, dir string, o WalkOptions) string {
	t.Helper()
	var all []string
	for e, err := range w.Walk(t.Context(), dir, o) {
		if err != nil {
			t.Fatal(err)
		}
		name := w.Rel(e.Path)
		if e.Ignored {
			name = "(" + name + ")"
		}
		if e.Type.IsDir() {
			name += "/"
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestWalk(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore": "*.o\nout/\n", ".geminiignore": "secret*\n!keep.o\n", "my.ignore": "data/\n",
		"a.go": "", "b.o": "", "keep.o": "", "out/x": "", "secret.txt": "", "data/d": "", "sub/.gitignore": "!b.o\n/c\n", "sub/b.o": "", "sub/c": "", "sub/deep/c": "",
		".env": "", ".git/config": "", "node_modules/m/i.js": "", ".hidden/h": "",
	})
	link(t, "sub", filepath.Join(dir, "link"))
	cfg := Config{Roots: []string{dir}, RespectGit: true, RespectGemini: true, IgnoreFiles: []string{"my.ignore"}}
	w := open(t, cfg)
	for _, test := range []struct {
		name string
		dir  string
		o    WalkOptions
		want string
	}{
		{"files", "", WalkOptions{}, ".env .geminiignore .gitignore .hidden/h a.go keep.o link my.ignore sub/.gitignore sub/b.o sub/deep/c"},
		{"directories", "sub", WalkOptions{Dirs: true}, "sub/.gitignore sub/b.o sub/deep/ sub/deep/c"},
		{"no rules but those that were named", "", WalkOptions{Rules: &Rules{}}, ".env .geminiignore .gitignore .hidden/h a.go b.o keep.o link my.ignore out/x secret.txt sub/.gitignore sub/b.o sub/c sub/deep/c"},
		{"git only", "", WalkOptions{Rules: &Rules{Git: true}}, ".env .geminiignore .gitignore .hidden/h a.go link my.ignore secret.txt sub/.gitignore sub/b.o sub/deep/c"},
		{"ignored, too", "", WalkOptions{Ignored: true, Dirs: true, Skip: func(p string, d bool) bool {
			return strings.HasPrefix(filepath.Base(p), ".") || filepath.Base(p) == "sub"
		}},
			"(b.o) (data)/ (out)/ (secret.txt) a.go keep.o link my.ignore"},
		{"and below", "", WalkOptions{Ignored: true, Under: true, Keep: func(p string, _ os.FileMode) bool { return len(filepath.Base(p)) == 1 }},
			"(data/d) (out/x) (sub/c) .hidden/h sub/deep/c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := walked(t, w, filepath.Join(dir, test.dir), test.o)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	for e := range w.Walk(t.Context(), dir, WalkOptions{Ignored: true, Under: true, Dirs: true, Info: true}) {
		if w.Ignore.Names(e.Path, e.Type.IsDir()) != e.Ignored {
			t.Errorf("%s: walk says ignored: %v", e.Path, e.Ignored)
		}
		if e.Info == nil || e.Info.Name() != filepath.Base(e.Path) {
			t.Errorf("%s: no info", e.Path)
		}
	}
}

func TestWalkEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/e%d/f%d", i%7, i%50, i)] = ""
	}
	dir := tree(t, files)
	w := open(t, Config{Roots: []string{dir}, RespectGit: true})
	for n := range 20 {
		i := 0
		for range w.Walk(t.Context(), dir, WalkOptions{}) {
			if i++; i > n*10 {
				break
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	i := 0
	var last error
	for _, err := range w.Walk(ctx, dir, WalkOptions{}) {
		if i++; i == 100 {
			cancel()
		}
		last = err
	}
	cancel()
	if !errors.Is(last, context.Canceled) {
		t.Errorf("after %d entries: %v", i, last)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range w.Walk(done, dir, WalkOptions{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := w.Search(done, dir, query("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWalkElsewhere(t *testing.T) {
	dir := tree(t, map[string]string{"f": ""})
	w := open(t, Config{Roots: []string{dir}})
	outside := (*OutsideError)(nil)
	for _, err := range w.Walk(t.Context(), filepath.Dir(dir), WalkOptions{}) {
		if !errors.As(err, &outside) {
			t.Errorf("got %v", err)
		}
	}
	n := 0
	for e, err := range w.Walk(t.Context(), filepath.Join(dir, "none"), WalkOptions{}) {
		if n++; !errors.Is(err, os.ErrNotExist) || e.Path != filepath.Join(dir, "none") {
			t.Errorf("got %v, %v", e, err)
		}
	}
	if n != 1 {
		t.Errorf("got %d entries", n)
	}
}

func TestNestedRepositories(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore": "*.gen\nmod/\n", ".git/HEAD": "", ".git/info/exclude": "local\n",
		"a.gen": "", "local": "", "inner/.git/info/exclude": "mine\n", "inner/.git/HEAD": "", "bare/.git/x": "", "bare/d.gen": "", "inner/a.gen": "", "inner/mine": "", "inner/local": "",
		"tree/.git": "gitdir: ../.git/worktrees/tree\n", ".git/worktrees/tree/commondir": "../..\n", "tree/local": "", "tree/b.gen": "", "tree/mine": "",
		"odd/.git": "nonsense", "odd/c.gen": "",
	})
	w := open(t, Config{Roots: []string{dir}, RespectGit: true})
	if got, want := walked(t, w, dir, WalkOptions{}), ".gitignore inner/a.gen inner/local tree/b.gen tree/mine"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w = open(t, Config{Roots: []string{filepath.Join(dir, "inner")}, RespectGit: true})
	if got, want := walked(t, w, filepath.Join(dir, "inner"), WalkOptions{}), "a.gen local"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestIgnoreFileThatIsALink(t *testing.T) {
	dir := tree(t, map[string]string{"rules": "a\n", "a": "", "sub/a": "", ".git/HEAD": ""})
	link(t, "rules", filepath.Join(dir, ".gitignore")) // git does not follow it
	w := open(t, Config{Roots: []string{dir}, RespectGit: true})
	if w.Ignore.Names(filepath.Join(dir, "a"), false) {
		t.Error("the link was followed")
	}
}

// A workspace in a directory that its repository ignores is not empty.
func TestIgnoredRoot(t *testing.T) {
	dir := tree(t, map[string]string{".git/HEAD": "", ".gitignore": "build\n*.o\n", "build/a": "", "build/b.o": ""})
	w := open(t, Config{Roots: []string{filepath.Join(dir, "build")}, RespectGit: true})
	if got := walked(t, w, filepath.Join(dir, "build"), WalkOptions{}); got != "a" {
		t.Errorf("got %s", got)
	}
}
