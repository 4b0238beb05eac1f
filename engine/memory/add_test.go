package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWithFact(t *testing.T) {
	const h = addedHeading + "\n"
	for _, c := range []struct{ name, old, want string }{
		{"no file", "", h + "- F\n"},
		{"no section", "# Mine\n", "# Mine\n\n" + h + "- F\n"},
		{"no section, a blank line at the end", "# Mine\n\n", "# Mine\n\n" + h + "- F\n"},
		{"no line end", "# Mine", "# Mine\n\n" + h + "- F\n"},
		{"section at the end", "# Mine\n\n" + h + "- a\n", "# Mine\n\n" + h + "- a\n- F\n"},
		{"empty section", h, h + "- F\n"},
		{"no line end in the section", h + "- a", h + "- a\n- F\n"},
		{"heading without a line end", addedHeading, h + "- F\n"},
		{"section in the middle", h + "- a\n\n\n## More\ntext\n", h + "- a\n- F\n\n\n## More\ntext\n"},
		{"smaller headings belong to it", h + "### x\n- a\n# Next\n", h + "### x\n- a\n- F\n# Next\n"},
		{"blank lines at the end", h + "- a\n\n \n", h + "- a\n- F\n\n \n"},
		{"a comment in code is no heading", h + "```sh\n# x\n```\n- a\n", h + "```sh\n# x\n```\n- a\n- F\n"},
		{"the heading in code is none", "~~~\n" + h + "~~~\n", "~~~\n" + h + "~~~\n\n" + h + "- F\n"},
		{"Windows line ends", "x\r\n" + addedHeading + "\r\n- a\r\n\r\n# y\r\n", "x\r\n" + addedHeading + "\r\n- a\r\n- F\r\n\r\n# y\r\n"},
		{"Windows line ends, no section", "x\r\n", "x\r\n\r\n" + addedHeading + "\r\n- F\r\n"},
		{"byte order mark", "\ufeff" + h + "- a\n", "\ufeff" + h + "- a\n- F\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := withFact([]byte(c.old), "F")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
	for _, old := range []string{"\xff\xfeG\x00", "a\xffb"} {
		if got, err := withFact([]byte(old), "F"); err == nil {
			t.Errorf("%q became %q", old, got)
		}
	}
}

func FuzzWithFact(f *testing.F) {
	f.Add("# Mine\n\n"+addedHeading+"\n- a\n\n## b\n", "fact")
	f.Add("```\n"+addedHeading, "- x\ny")
	f.Fuzz(func(t *testing.T, old, fact string) {
		fact = oneLine(fact)
		if strings.ContainsAny(fact, "\r\n") || !utf8.ValidString(fact) || strings.HasPrefix(fact, "- ") {
			t.Errorf("oneLine: %q", fact)
		}
		got, err := withFact([]byte(old), fact)
		if err != nil {
			return
		}
		// Nothing of what was there is lost: what is added lies in one piece.
		n := len(got) - len(old)
		whole := false
		for at := 0; at <= len(old) && !whole; at++ {
			whole = string(got[:at])+string(got[at+n:]) == old
		}
		if !whole || !strings.Contains(string(got), "- "+fact) {
			t.Errorf("withFact(%q, %q) = %q", old, fact, got)
		}
	})
}

func TestAdd(t *testing.T) {
	top := plant(t, map[string]string{"w/GEMINI.md": "project"})
	m, _, _ := read(in(top, "w"))
	path, err := m.Add(" - use\ttabs\n")
	if err != nil {
		t.Fatal(err)
	}
	if path != filepath.Join(top, "home", "GEMINI.md") {
		t.Errorf("added to %s", path)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Add("be brief"); err != nil {
		t.Fatal(err)
	}
	want := addedHeading + "\n- use tabs\n- be brief\n"
	if b, _ := os.ReadFile(path); string(b) != want {
		t.Errorf("the file is %q", b)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 && os.PathSeparator == '/' {
		t.Errorf("the mode is %v", info.Mode())
	}
	if d := cmp.Diff([]string{strings.TrimSpace(want), "project"}, texts(m.Contents())); d != "" {
		t.Error(d)
	}
	if _, err := m.Add(" \n"); err == nil {
		t.Error("nothing was added")
	}
	if _, err := New(Config{}).Add("x"); err == nil {
		t.Error("there is no home")
	}
	left, _ := filepath.Glob(filepath.Join(top, "home", ".gemline-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What can't be added to stays as it is.
func TestAddFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		err   string
	}{
		{"directory", map[string]string{"home/GEMINI.md/": ""}, "directory"},
		{"link to nowhere", map[string]string{"home/GEMINI.md": "->nowhere"}, "link to nowhere"},
		{"not text", map[string]string{"home/GEMINI.md": "\xff\xfex\x00"}, "not UTF-8"},
		{"no directory", map[string]string{"home": "a file"}, "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := plant(t, c.files)
			before, _ := os.ReadFile(filepath.Join(top, "home", "GEMINI.md"))
			if _, err := New(in(top)).Add("x"); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v", err)
			}
			if after, _ := os.ReadFile(filepath.Join(top, "home", "GEMINI.md")); string(after) != string(before) {
				t.Errorf("the file became %q", after)
			}
		})
	}
	t.Run("read-only", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root writes everywhere")
		}
		top := plant(t, map[string]string{"home/GEMINI.md": "mine"})
		if err := os.Chmod(filepath.Join(top, "home", "GEMINI.md"), 0o444); err != nil {
			t.Fatal(err)
		}
		if _, err := New(in(top)).Add("x"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v", err)
		}
	})
	t.Run("through a link", func(t *testing.T) {
		top := plant(t, map[string]string{"dotfiles/g.md": "mine\n", "home/GEMINI.md": "->../dotfiles/g.md"})
		if _, err := New(in(top)).Add("x"); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(filepath.Join(top, "home", "GEMINI.md")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Error("the link is gone")
		}
		if b, _ := os.ReadFile(filepath.Join(top, "dotfiles", "g.md")); string(b) != "mine\n\n"+addedHeading+"\n- x\n" {
			t.Errorf("%q", b)
		}
	})
}

// Two programs that add to the file in turn lose nothing, and a Memory is used
// from several goroutines.
func TestAddBeside(t *testing.T) {
	top := plant(t, map[string]string{"w/GEMINI.md": "project", "w/a/GEMINI.md": "a", "w/a/x": ""})
	m := New(in(top, "w"))
	other := New(in(top, "w"))
	var found sync.Map
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if text, _ := m.Discover(filepath.Join(top, "w", "a", "x")); text != "" {
				if _, twice := found.Swap("a", true); twice {
					t.Error("discovered twice")
				}
			}
			m.Contents()
			m.Add("fact")
		})
	}
	wg.Wait()
	if _, err := other.Add("from elsewhere"); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(filepath.Join(top, "home", "GEMINI.md"))
	if want := addedHeading + "\n" + strings.Repeat("- fact\n", 4) + "- from elsewhere\n"; string(b) != want {
		t.Errorf("%q", b)
	}
}
