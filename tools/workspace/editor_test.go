package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the user has in the editor counts, in the form that the file has, and the editor
// writes; what it can't do, and what is no text of the user's, is the disk's. A file that the
// editor does not have is not there.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, ".gemini")
	open := map[string]string{}
	ed := Editor{
		Read: func(path string) (string, error) {
			if s, ok := open[filepath.Base(path)]; ok {
				return s, nil
			}
			switch filepath.Base(path) {
			case "kept":
				return "", errors.New("private")
			case "unsupported":
				return "", errors.ErrUnsupported
			}
			return "", fs.ErrNotExist
		},
		Write: func(path, text string) error {
			if filepath.Base(path) == "unsupported" {
				return errors.ErrUnsupported
			}
			if filepath.Base(path) == "refused" {
				return errors.New("no")
			}
			return os.WriteFile(path, []byte("by the editor: "+text), 0o600)
		},
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := New(Config{Roots: []string{dir}, File: filepath.Join(home, "GEMINI.md"), Editor: ed})
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) ResolvedPath {
		t.Helper()
		p, err := w.Locate(filepath.Join(w.Roots()[0], name))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct{ name, disk, open, want string }{
		{"plain", "a\n", "b\n", "b\n"},
		{"windows", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
		{"mixed", "a\r\nb\n", "a\nc\n", "a\nc\n"},
		{"marked", "\ufeffa\n", "b\n", "b\n"},
		{"unsupported", "a\n", "", "a\n"},
		{"binary", "\x7fELF\x00\x00\x01\x02\x00\x03\x00\x00\x05", "b\n", ""},
		{"latin", "caf\xe9, na\xefve, d\xe9j\xe0 vu\n", "b\n", "café, naïve, déjà vu\n"},
		{".gemini/GEMINI.md", "a\n", "b\n", "a\n"},
	} {
		if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.disk), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.open != "" {
			open[filepath.Base(c.name)] = c.open
		}
		f, err := at(c.name).ReadText()
		if c.want == "" {
			if !errors.Is(err, ErrBinary) {
				t.Errorf("%s: %v, %v", c.name, f, err)
			}
			continue
		}
		if err != nil || f.Text != c.want {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := at("kept").ReadText(); err == nil || !strings.Contains(err.Error(), "private") {
		t.Errorf("%+v, %v", f, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gone"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := at("gone").ReadText(); !errors.Is(err, fs.ErrNotExist) { // the editor says what there is
		t.Errorf("%+v, %v", f, err)
	}
	open["never"] = "x"
	if _, err := at("never").ReadText(); !errors.Is(err, fs.ErrNotExist) { // the disk says what there is
		t.Error(err)
	}
	for _, c := range []struct{ name, charset, want string }{
		{"new/file", "", "by the editor: text"},
		{"gone", "", "by the editor: text"},
		{"unsupported", "", "text"},
		{"plain", "utf-16le", "t\x00e\x00x\x00t\x00"},
		{".gemini/GEMINI.md", "", "text"},
		{"refused", "", ""},
	} {
		err := at(c.name).Write("text", Format{Charset: c.charset})
		b, _ := os.ReadFile(filepath.Join(dir, c.name))
		if (err != nil) != (c.want == "") || string(b) != c.want {
			t.Errorf("%s: %v, %q", c.name, err, b)
		}
	}
	if err := at("new").Write("text", Format{}); !errors.Is(err, ErrDirectory) {
		t.Error(err)
	}
}
