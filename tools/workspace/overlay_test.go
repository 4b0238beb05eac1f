package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is written to an Overlay is seen as if it were on the disk: of two equal
// trees, one is written to and the other is not, and they look the same. The
// latter stays as it is, to the last modification time.
func TestOverlayIsLikeTheDisk(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.o\n", ".geminiignore": "secret\n", "a.go": "package a\n", "b.o": "word\n", "run.sh": "#!/bin/sh\n",
		"empty": "", "crlf": "one\r\ntwo\r\n", "sub/.gitignore": "!b.o\n", "sub/a.go": "word", "sub/b.o": "", "sub/deep/x": "word\n",
		".git/HEAD": "", "wide": "\xff\xfew\x00o\x00r\x00d\x00",
	}
	targets := []string{"a.go", "b.o", "run.sh", "empty", "crlf", ".gitignore", ".geminiignore", "sub/.gitignore", "sub/new.go", "sub/deep/x",
		"new", "new.o", "new/dir/file", "new/dir/other.o", "made/here", "made/here/below", "sub", "a.go/below", "link/through", "link/a.go",
		"dangling", "direct", ".git/config", "wide", "made/.gitignore", "secret", "../outside"}
	texts := []string{"", "word\n", "package a\n", "no end", "a\r\nword\r\n", "*.go\n!b.o\n", "made\n", "\x00word"}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		plain, over := tree(t, files), tree(t, files)
		for _, dir := range []string{plain, over} {
			link(t, "sub", filepath.Join(dir, "link"))
			link(t, "made/later", filepath.Join(dir, "dangling"))
			link(t, "a.go", filepath.Join(dir, "direct"))
			if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cfg := Config{RespectGit: true, RespectGemini: true}
		cfg.Roots = []string{plain}
		disk := open(t, cfg)
		cfg.Roots, cfg.Overlay = []string{over}, &Overlay{}
		memory := open(t, cfg)
		before := snapshot(t, over)
		for range 12 {
			name, text := targets[rng.IntN(len(targets))], texts[rng.IntN(len(texts))]
			want := disk.Write(filepath.Join(plain, name), text, Format{})
			got := memory.Write(filepath.Join(over, name), text, Format{})
			if kind(want) != kind(got) {
				t.Fatalf("seed %d: writing %s: %v on disk, %v over it", seed, name, want, got)
			}
		}
		want, got := appearance(t, disk, plain, targets), appearance(t, memory, over, targets)
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Fatalf("seed %d: on disk (-), over it (+):\n%s", seed, diff)
		}
		if after := snapshot(t, over); after != before {
			t.Fatalf("seed %d: the disk was\n%s\nand is\n%s", seed, before, after)
		}
	}
}

// kind names the class of an error of Write.
func kind(err error) string {
	outside := (*OutsideError)(nil)
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &outside):
		return "outside"
	case errors.Is(err, ErrDirectory), errors.Is(err, ErrNoDirectory):
		return "directory"
	}
	return err.Error()
}

// own is a mode without what a umask may have taken from it.
func own(mode fs.FileMode) fs.FileMode { return mode &^ 0o077 }

// appearance is all that can be known of a workspace by looking at it.
func appearance(t *testing.T, w *Workspace, dir string, more []string) string {
	var all strings.Builder
	say := func(format string, args ...any) {
		all.WriteString(strings.ReplaceAll(fmt.Sprintf(format+"\n", args...), dir, "$"))
	}
	for i, o := range []WalkOptions{{}, {Ignored: true, Under: true, Dirs: true}, {Rules: &Rules{}}} {
		for _, at := range []string{"", "sub", "link", "new", "made/here", "a.go"} {
			var found []string
			o.Info = true
			for e, err := range w.Walk(t.Context(), filepath.Join(dir, at), o) {
				if err != nil {
					found = append(found, "error at "+at)
					continue
				}
				found = append(found, fmt.Sprint(e.Path, e.Type, e.Ignored, e.Info.Name(), own(e.Info.Mode()), e.Type.IsDir() || e.Info.Size() > -1))
			}
			slices.Sort(found)
			say("walk %d of %q: %s", i, at, strings.Join(found, "\n "))
		}
	}
	for _, at := range append([]string{"", "link"}, more...) {
		path := filepath.Join(dir, at)
		matches, err := w.Search(context.Background(), path, Query{Pattern: regexp.MustCompile("word|made")})
		say("search %q: %v %v", at, matches, err != nil)
		entries, err := w.ReadDir(path)
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		var names []string
		for _, e := range entries {
			names = append(names, e.Name()+e.Type().String())
		}
		say("list %q: %v %v", at, names, err != nil)
		f, err := w.ReadText(path)
		if err == nil {
			say("text of %q: %q %v %v %v", at, f.Text, f.Format, f.Size, own(f.Mode))
		} else {
			say("text of %q: %v", at, err)
		}
		_, _, err = w.ReadBytes(path, 3)
		say("limited: %v", err)
		for _, look := range []func(string) (fs.FileInfo, error){w.Stat, w.Lstat} {
			if info, err := look(path); at == "" {
				continue // it is called as the test likes
			} else if err == nil && info.Mode().IsRegular() {
				say("stat %q: %s %v %d", at, info.Name(), own(info.Mode()), info.Size())
			} else if err == nil {
				say("stat %q: %s %v", at, info.Name(), own(info.Mode()))
			} else {
				say("stat %q: %v", at, missing(err))
			}
		}
		say("ignored: %v", w.Ignore.Names(path, false))
	}
	return all.String()
}

// snapshot is all that a tree is, with its times.
func snapshot(t testing.TB, dir string) string {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			fmt.Fprintf(&all, "%q\n", content(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestOverlayChanges(t *testing.T) {
	dir := tree(t, map[string]string{"b": "old\n", "same": "x", "run": "#!", "locked": "l"})
	for name, mode := range map[string]fs.FileMode{"b": 0o644, "run": 0o755, "locked": 0o400} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	o := &Overlay{}
	w := open(t, Config{Roots: []string{dir}, Overlay: o})
	for _, write := range [][2]string{{"b", "first"}, {"same", "y"}, {"b", "second"}, {"same", "x"}, {"a/new", ""}, {"a/new", "text"}, {"empty", ""}, {"run", "#!x"}, {"locked", "L"}} {
		if err := w.Write(filepath.Join(dir, write[0]), write[1], Format{}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, c := range o.Changes() {
		got = append(got, fmt.Sprintf("%s %v %v %q %q", w.Rel(c.Path), c.Created, c.Mode, c.Old, c.New))
	}
	want := []string{`a/new true -rw-r--r-- "" "text"`, `b false -rw-r--r-- "old\n" "second"`, `empty true -rw-r--r-- "" ""`,
		`locked false -r-------- "l" "L"`, `run false -rwxr-xr-x "#!" "#!x"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A search that was told where to look looks at what was written, too.
func TestOverlayIsAlwaysSearched(t *testing.T) {
	dir := tree(t, map[string]string{"a": "word\n", "b": "\n"})
	w := open(t, Config{Roots: []string{dir}, Overlay: &Overlay{}})
	if err := w.Write(filepath.Join(dir, "b"), "word\n", Format{}); err != nil {
		t.Fatal(err)
	}
	found, err := w.Search(t.Context(), dir, Query{Pattern: regexp.MustCompile("word"), Only: map[string]bool{}})
	if err != nil || len(found) != 1 || w.Rel(found[0].Path) != "b" {
		t.Errorf("got %v, %v", found, err)
	}
}

// Calls that only look may run side by side, and beside a write.
func TestOverlayIsShared(t *testing.T) {
	dir := tree(t, map[string]string{"a": "word\n", "sub/b": "word\n"})
	o := &Overlay{}
	w := open(t, Config{Roots: []string{dir}, RespectGit: true, Overlay: o})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 20 {
				path := filepath.Join(dir, fmt.Sprint("new", i), fmt.Sprint(n%3))
				if err := w.Write(path, "word\n", Format{}); err != nil {
					t.Error(err)
				}
				found, err := w.Search(t.Context(), dir, Query{Pattern: regexp.MustCompile("word")})
				if err != nil || len(found) < 3 {
					t.Error(found, err)
				}
				if text, err := w.ReadText(path); err != nil || text.Text != "word\n" {
					t.Error(text, err)
				}
				o.Changes()
			}
		})
	}
	wg.Wait()
	if n := len(o.Changes()); n != 12 {
		t.Errorf("%d files", n)
	}
}
