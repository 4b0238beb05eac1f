package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// tree makes files below a temporary directory and returns its real path. A
// name that ends in a slash is a directory; one with " -> " a link.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	grow(t, dir, files)
	return dir
}

func grow(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		parent := filepath.Dir(path)
		if name[len(name)-1] == '/' {
			parent = path
		}
		if err := os.MkdirAll(parent, 0o777); err != nil {
			t.Fatal(err)
		}
		if parent == path {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func open(t testing.TB, cfg Config) *Workspace {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

func TestResolve(t *testing.T) {
	base := tree(t, map[string]string{
		"ws/a.txt": "a", "ws/@at": "", "ws/sub/b": "b", "ws/.env": "", "ws/.git/config": "", "ws/.github/x": "",
		"ws/node_modules/m/x": "", "ws-evil/s": "s", "out/secret": "s", "tmp/t": "", "more/.git/x": "",
	})
	ws := filepath.Join(base, "ws")
	for name, to := range map[string]string{
		"dirlink": "../out", "filelink": "../out/secret", "dangling": "../out/made", "envlink": ".env",
		"in": "sub", "abs": filepath.Join(ws, "sub"), "loop": "loop", "up": "..", "totmp": "../tmp", "inside-dangling": "sub/made",
		"hidden": ".git",
	} {
		link(t, to, filepath.Join(ws, name))
	}
	w := open(t, Config{Roots: []string{ws, filepath.Join(base, "more")}, Temp: filepath.Join(base, "tmp")})
	in := func(p string) string { return filepath.Join(base, p) }
	for _, test := range []struct{ name, arg, want string }{
		{"relative", "a.txt", in("ws/a.txt")},
		{"absolute", in("ws/a.txt"), in("ws/a.txt")},
		{"root", ".", ws},
		{"not there", "no/such", in("ws/no/such")},
		{"at", "@a.txt", in("ws/a.txt")},
		{"env", ".env", in("ws/.env")},
		{"link to env", "envlink", in("ws/envlink")},
		{"credentials", "gha-creds-1f.json", in("ws/gha-creds-1f.json")},
		{"really at", "@at", in("ws/@at")},
		{"nul", "a\x00.txt", in("ws/a.txt")},
		{"link inside", "in/b", in("ws/in/b")},
		{"absolute link inside", "abs/b", in("ws/abs/b")},
		{"dangling inside", "inside-dangling", in("ws/inside-dangling")},
		{"temp", in("tmp/t"), in("tmp/t")},
		{"link to temp", "totmp/t", in("ws/totmp/t")},
		{"other root", in("more/f"), in("more/f")},
		{"dots that stay", "sub/../a.txt", in("ws/a.txt")},
		{"like a withheld name", ".github/x", in("ws/.github/x")},
		{"percent is no escape", "..%2fout%2fsecret", in("ws/..%2fout%2fsecret")},
		{"tilde is a name", "~/x", in("ws/~/x")},

		{"dots", "../out/secret", ""},
		{"mixed dots", "sub/../../out/secret", ""},
		{"sibling", in("ws-evil/s"), ""},
		{"absolute outside", "/etc/passwd", ""},
		{"device", "/dev/zero", ""},
		{"link out", "dirlink/secret", ""},
		{"file link out", "filelink", ""},
		{"dangling out", "dangling", ""},
		{"link up", "up/out/secret", ""},
		{"git", ".git/config", ""},
		{"git in full width", "\uff0e\uff27\uff29\uff34/config", ""},
		{"git with a dot behind", "sub/.git./config", ""},
		{"git as a stream", ".git::$INDEX_ALLOCATION/config", ""},
		{"git by its short name", "GIT~1/config", ""},
		{"git with what nobody sees", ".g\u200cit/config", ""},
		{"git below", "x/.git/hooks/pre-commit", ""},
		{"link to git", "hidden/config", ""},
		{"git of another root", in("more/.git/x"), ""},
		{"modules", "node_modules/m/x", ""},
		{"nul that hides dots", ".\x00./out/secret", ""},
		{"the directory above", "..", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := w.Resolve(test.arg)
			if outside := (*OutsideError)(nil); test.want == "" {
				if !errors.As(err, &outside) {
					t.Errorf("got %q, %v; want an OutsideError", got, err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
	if _, err := w.Resolve("loop"); err == nil {
		t.Error("a loop was resolved")
	}
}

// close lets go of the directories.
func (w *Workspace) close() {
	for _, d := range w.dirs.list() {
		d.Close()
	}
	if w.dirs.tempNow != nil {
		w.dirs.tempNow.Close()
	}
}
