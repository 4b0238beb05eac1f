package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// plant makes files below a fresh directory: a text, a directory if the name
// ends in a slash, a link if the text begins with "->".
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(filepath.FromSlash(to), path)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// in returns a Config for roots below top, with the user's files in home.
func in(top string, roots ...string) Config {
	for i := range roots {
		roots[i] = filepath.Join(top, filepath.FromSlash(roots[i]))
	}
	return Config{User: filepath.Join(top, "home"), Roots: func() []string { return roots }}
}

// read loads the files that cfg names and returns the warnings, too.
func read(cfg Config) (m *Memory, c Contents, warnings string) {
	cfg.Warn = func(w string) { warnings += w + "\n" }
	m = New(cfg)
	c = m.Contents()
	return m, c, warnings
}

func texts(c Contents) (all []string) {
	for _, f := range c.Files {
		all = append(all, f.Text)
	}
	return all
}

func frame(path, text string) string {
	return "--- Context from: " + path + " ---\n" + text + "\n--- End of Context from: " + path + " ---"
}

func TestContents(t *testing.T) {
	top := plant(t, map[string]string{
		"home/GEMINI.md":       "\n be kind \n",
		"private/MEMORY.md":    " the test needs a port\n",
		"work/b/GEMINI.md":     "B",
		"work/a/AGENTS.md":     "agents",
		"work/a/GEMINI.md":     "A",
		"work/c/GEMINI.md":     " \n\t\n",
		"work/GEMINI.md":       "not looked at: there is no marker",
		"work/a/sub/GEMINI.md": "later",
	})
	cfg := in(top, "work/b", "work/a", "work/a", "work/c", "work/missing", "home")
	cfg.Names = []string{" AGENTS.md ", "GEMINI.md"}
	cfg.Private = filepath.Join(top, "private")
	_, got, warnings := read(cfg)
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	want := Contents{
		Global:  frame(at("home/GEMINI.md"), "be kind"),
		Private: "the test needs a port",
		Project: frame(at("work/a/AGENTS.md"), "agents") + "\n\n" + frame(at("work/a/GEMINI.md"), "A") + "\n\n" + frame(at("work/b/GEMINI.md"), "B"),
		Files: []File{{at("home/GEMINI.md"), Global, "be kind"}, {at("private/MEMORY.md"), Private, "the test needs a port"},
			{at("work/a/AGENTS.md"), Project, "agents"}, {at("work/a/GEMINI.md"), Project, "A"}, {at("work/b/GEMINI.md"), Project, "B"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if warnings != "" {
		t.Error(warnings)
	}
}

// A project names no file as a context file that may hold secrets, and no link leads to one.
func TestContextFilesHoldNoSecrets(t *testing.T) {
	top := plant(t, map[string]string{"work/.env": "A=1", "work/secrets/db.txt": "B", "work/.git/config": "C",
		"work/NOTES.md": "notes", "vault/secrets/GEMINI.md": "the root may be called so"})
	if err := os.Symlink(".env", filepath.Join(top, "work", "GEMINI.md")); err != nil {
		t.Skip(err)
	}
	cfg := in(top, "work", "vault/secrets")
	cfg.Names = []string{".env", "secrets/db.txt", ".git/config", "NOTES.md"}
	cfg.Withheld = func(name string) bool { return name == ".git" }
	_, got, warnings := read(cfg)
	if s := strings.Join(texts(got), ", "); s != "the root may be called so, notes" {
		t.Error(s)
	}
	if n := strings.Count(warnings, "it may hold secrets"); n != 4 {
		t.Error(n, warnings)
	}
}

// TestHierarchy shows which parents are looked at and in which order.
func TestHierarchy(t *testing.T) {
	top := plant(t, map[string]string{
		"GEMINI.md":                 "above the marker",
		"repo/.git/":                "",
		"repo/GEMINI.md":            "1",
		"repo/1/GEMINI.md":          "2",
		"repo/1/B/GEMINI.md":        "3",
		"repo/1/B/mark":             "a file",
		"repo/1/B/c/GEMINI.md":      "4",
		"repo/1/B/c/.git":           "gitdir: elsewhere",
		"repo/home/GEMINI.md":       "the user's",
		"repo/home/project/a.md":    "",
		"repo/2/GEMINI.md":          "5",
		"repo/1/B/deeper/GEMINI.md": "6",
	})
	for _, c := range []struct {
		name    string
		markers []string
		roots   []string
		want    string
	}{
		{"up to the marker", nil, []string{"repo/1/B"}, "1 2 3"},
		{"the root is the marked one", nil, []string{"repo"}, "1"},
		{"a marker that is a file", nil, []string{"repo/1/B/c"}, "4"},
		{"another marker", []string{"mark"}, []string{"repo/1/B/deeper"}, "3 6"},
		{"any of several", []string{"nowhere", "mark"}, []string{"repo/1/B/deeper"}, "3 6"},
		{"a marker nowhere", []string{"no such marker"}, []string{"repo/1/B"}, "3"},
		{"no markers", []string{}, []string{"repo/1/B"}, "3"},
		{"roots share their parents", nil, []string{"repo/2", "repo/1"}, "1 2 5"},
		{"the user's directory is no project", nil, []string{"repo/home/project"}, "1"},
		{"a marker with a path out", []string{"../.git", ".git"}, []string{"repo/1"}, "1 2"},
		{"untrusted", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := in(top, c.roots...)
			cfg.User, cfg.Markers = filepath.Join(top, "repo", "home"), c.markers
			_, got, _ := read(cfg)
			if s := strings.Join(texts(got), " "); s != strings.TrimSpace("the user's "+c.want) {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func TestOddFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		want    []string // texts
		warning string
	}{
		{"directory", map[string]string{"w/GEMINI.md/": ""}, nil, ""},
		{"same file twice", map[string]string{"w/GEMINI.md": "one", "w/AGENTS.md": "->GEMINI.md"}, []string{"one"}, ""},
		{"link inside", map[string]string{"w/docs/x.md": "x", "w/GEMINI.md": "->docs/x.md"}, []string{"x"}, ""},
		{"link outside", map[string]string{"secret": "s", "w/GEMINI.md": "->../secret"}, nil, "leads out"},
		{"link into the repository", map[string]string{".git/": "", "x.md": "x", "w/GEMINI.md": "->../x.md"}, []string{"x"}, ""},
		{"directory linked outside", map[string]string{"out/AI.md": "s", "w/docs": "->../out"}, nil, "leads out"},
		{"broken link", map[string]string{"w/GEMINI.md": "->nowhere"}, nil, ""},
		{"link to itself", map[string]string{"w/GEMINI.md": "->GEMINI.md"}, nil, "too many links"},
		{"too long", map[string]string{"w/GEMINI.md": "12345678901"}, []string{"1234567890"}, "first 10 bytes"},
		{"cut within a character", map[string]string{"w/GEMINI.md": "12345678\U0001f600"}, []string{"12345678"}, "first 8 bytes"},
		{"too much in all", map[string]string{"w/AGENTS.md": "123456789", "w/GEMINI.md": "abcdefghi"}, []string{"123456789", "abcdef"}, "more than their limit"},
		{"not UTF-8", map[string]string{"w/GEMINI.md": "a\xffb"}, []string{"aÿb"}, "not UTF-8"},
		{"UTF-16", map[string]string{"w/GEMINI.md": "\xff\xfea\x00\xe9\x00"}, []string{"a\u00e9"}, ""},
		{"a stray byte", map[string]string{"w/GEMINI.md": "\u00e4\u00f6 a\xff"}, []string{"\u00e4\u00f6 a\ufffd"}, "not UTF-8 text: what could not be read"},
		{"zero bytes", map[string]string{"w/GEMINI.md": "a\x00b"}, []string{"a\ufffdb"}, "not UTF-8 text"},
		{"byte order mark", map[string]string{"w/GEMINI.md": "\ufeffa"}, []string{"a"}, ""},
		{"name with a directory", map[string]string{"w/docs/AI.md": "ai"}, []string{"ai"}, ""},
		{"a directory's name is a file's", map[string]string{"w/docs": "ai"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := in(plant(t, c.files), "w")
			cfg.Names, cfg.Limit, cfg.Total = []string{"AGENTS.md", "docs/AI.md"}, 10, 15
			_, got, warnings := read(cfg)
			if d := cmp.Diff(c.want, texts(got)); d != "" {
				t.Error(d)
			}
			if (c.warning == "") != (warnings == "") || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %q, want %q", warnings, c.warning)
			}
		})
	}
	t.Run("the user's link", func(t *testing.T) {
		_, got, _ := read(in(plant(t, map[string]string{"dotfiles/g.md": "mine", "home/GEMINI.md": "->../dotfiles/g.md"})))
		if !strings.Contains(got.Global, "mine") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root reads everything")
		}
		top := plant(t, map[string]string{"w/GEMINI.md": "x"})
		if err := os.Chmod(filepath.Join(top, "w", "GEMINI.md"), 0); err != nil {
			t.Fatal(err)
		}
		if _, got, warnings := read(in(top, "w")); len(got.Files) > 0 || !strings.Contains(warnings, "permission denied") {
			t.Errorf("%+v, %q", got, warnings)
		}
	})
	t.Run("100 MB", func(t *testing.T) {
		top := plant(t, map[string]string{"w/GEMINI.md": strings.Repeat("a\n", 1000)})
		if err := os.Truncate(filepath.Join(top, "w", "GEMINI.md"), 100<<20); err != nil {
			t.Fatal(err)
		}
		if _, got, warnings := read(in(top, "w")); len(got.Project) > 4*defaultLimit || !strings.Contains(warnings, fmt.Sprintf("only its first %d bytes are used", defaultLimit)) {
			t.Errorf("%d bytes, %q", len(got.Project), warnings)
		}
	})
	t.Run("odd names", func(t *testing.T) {
		top := plant(t, map[string]string{"w\n--- x/my rules.md": "rules @./a\u00a0b.md", "w\n--- x/a\u00a0b.md": "no break", "w\n--- x/b\n.md": "by a name with a line end"})
		cfg := in(top, "w\n--- x")
		cfg.Names = []string{"my rules.md", "b\n.md"}
		_, got, _ := read(cfg)
		if strings.Contains(got.Project, "\n--- x/my") || strings.Count(got.Project, `--- Context from: "`) != 2 || !strings.Contains(got.Project, "no break") {
			t.Errorf("%s", got.Project)
		}
		if list := got.List(); strings.Count(list, "\n") != 3 {
			t.Errorf("%q", list)
		}
	})
	t.Run("too many files", func(t *testing.T) {
		files := map[string]string{}
		cfg := Config{}
		for i := range maxFiles + 5 {
			name := fmt.Sprintf("%03d.md", i)
			files["w/"+name], cfg.Names = "x", append(cfg.Names, name)
		}
		cfg.Roots = in(plant(t, files), "w").Roots
		if _, got, warnings := read(cfg); len(got.Files) != maxFiles || strings.Count(warnings, "more than 100 context files") != 1 {
			t.Errorf("%d files, %q", len(got.Files), warnings)
		}
	})
}

// An import that fails in two places of a file is told once.
func TestImportTwice(t *testing.T) {
	top := plant(t, map[string]string{"w/GEMINI.md": "See @./x.md.\n\nAnd @./x.md again.\n"})
	if _, _, warnings := read(in(top, "w")); strings.Count(warnings, "there is no such file") != 1 {
		t.Errorf("%q", warnings)
	}
}

func TestBadNames(t *testing.T) {
	top := plant(t, map[string]string{"x.md": "no", "w/GEMINI.md": "yes"})
	for _, n := range []string{"../x.md", "/etc/passwd", ".", "a\x00b"} {
		cfg := in(top, "w")
		cfg.Names = []string{n}
		if _, c, warnings := read(cfg); !strings.Contains(warnings, fmt.Sprintf("%q", n)) || len(c.Files) != 1 {
			t.Errorf("%q: %d files, %q", n, len(c.Files), warnings)
		}
	}
}

func TestPrivate(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		roots []string
		want  string
	}{
		{"index", map[string]string{"p/MEMORY.md": "m", "p/GEMINI.md": "g"}, []string{"w"}, "m"},
		{"under the older name", map[string]string{"p/GEMINI.md": "g"}, []string{"w"}, "g"},
		{"none", map[string]string{"w/": ""}, []string{"w"}, ""},
		{"untrusted", map[string]string{"p/MEMORY.md": "m"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := plant(t, c.files)
			cfg := in(top, c.roots...)
			cfg.Private = filepath.Join(top, "p")
			m, got, _ := read(cfg)
			if got.Private != c.want {
				t.Errorf("%q, want %q", got.Private, c.want)
			}
			if trusted := c.roots != nil; (m.Notes() == filepath.Join(top, "p", "MEMORY.md")) != trusted {
				t.Errorf("the notes are in %q", m.Notes())
			}
		})
	}
}

// TestExtensions shows that the files of extensions are in use wherever the
// user works, and stay below their own directories.
func TestExtensions(t *testing.T) {
	top := plant(t, map[string]string{
		"home/GEMINI.md":        "the user's",
		"ext/b/GEMINI.md":       "B @./docs/more.md @../a/CTX.md @/etc/passwd",
		"ext/b/docs/more.md":    "more",
		"ext/a/CTX.md":          "A",
		"ext/evil/GEMINI.md":    "->../../secret",
		"ext/evil/docs":         "->../..",
		"ext/linked/GEMINI.md":  "->in/x.md",
		"ext/linked/in/x.md":    "linked",
		"ext/directory/CTX.md/": "",
		".git/":                 "", // a marker above changes nothing
		"secret":                "secret",
		"w/.git/":               "",
		"w/GEMINI.md":           "W",
	})
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	extra := func(dir, name string) Extra {
		return Extra{Path: at("ext/" + dir + "/" + name), Within: at("ext/" + dir)}
	}
	for _, roots := range [][]string{nil, {"w"}} {
		trusted := roots != nil
		cfg := in(top, roots...)
		cfg.Extensions = func() ([]Extra, []string) {
			return []Extra{extra("linked", "GEMINI.md"), extra("b", "GEMINI.md"), extra("a", "CTX.md"), extra("a", "CTX.md"), extra("evil", "GEMINI.md"),
				extra("evil", "docs/secret"), extra("directory", "CTX.md"), extra("gone", "GEMINI.md")}, []string{"extension x is not used"}
		}
		m, got, warnings := read(cfg)
		want := []File{{at("home/GEMINI.md"), Global, "the user's"}, {at("ext/a/CTX.md"), Extension, "A"},
			{at("ext/b/GEMINI.md"), Extension, "B " + imported("./docs/more.md", "more") + " <!-- Import failed: ../a/CTX.md - Path traversal attempt --> <!-- Import failed: /etc/passwd - Path traversal attempt -->"},
			{at("ext/linked/GEMINI.md"), Extension, "linked"}}
		if trusted {
			want = append(want, File{at("w/GEMINI.md"), Project, "W"})
		}
		if d := cmp.Diff(want, got.Files); d != "" {
			t.Error(d)
		}
		if strings.Count(got.Extension, "--- Context from: ") != 3 || strings.Contains(got.Project+got.Global, "/ext/") {
			t.Errorf("%+v", got)
		}
		if strings.Count(warnings, "leads out of "+at("ext/evil")) != 2 || strings.Count(warnings, "extension x is not used") != 1 {
			t.Errorf("warnings %q", warnings)
		}
		if m.Trusts(at("w")) != trusted || m.Trusts(at("ext")) || m.Trusts(at("nowhere")) {
			t.Error("trusts the wrong directories")
		}
	}
}

func TestDiscover(t *testing.T) {
	top := plant(t, map[string]string{
		"repo/.git/":               "",
		"repo/GEMINI.md":           "top imports @./lib/shared.md",
		"repo/lib/shared.md":       "shared",
		"repo/lib/GEMINI.md":       "->shared.md",
		"repo/app/a.go":            "",
		"repo/app/ui/GEMINI.md":    "ui",
		"repo/app/ui/x/GEMINI.md":  "x, with @../notes.md",
		"repo/app/ui/x/b.go":       "",
		"repo/app/ui/notes.md":     "notes",
		"repo/app/evil/GEMINI.md":  "->../../../secret.md",
		"repo/app/empty/GEMINI.md": " ",
		"repo/app/link":            "->ui",
		"secret.md":                "secret",
		"other/GEMINI.md":          "other",
		"other/c.go":               "",
	})
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	m, _, _ := read(in(top, "repo"))
	ui := frame(at("repo/app/ui/GEMINI.md"), "ui")
	x := frame(at("repo/app/ui/x/GEMINI.md"), "x, with <!-- Imported from: ../notes.md -->\nnotes\n<!-- End of import from: ../notes.md -->")
	for _, c := range []struct{ name, path, want, warning string }{
		{"loaded at the start", "repo/app/a.go", "", ""},
		{"the file itself", "repo/app/ui/GEMINI.md", "", ""},
		{"two levels, outer first", "repo/app/ui/x/b.go", ui + "\n\n" + x, ""},
		{"once", "repo/app/ui/x/b.go", "", ""},
		{"by a link", "repo/app/link", "", ""},
		{"imported before", "repo/lib", "", ""},
		{"leads out", "repo/app/evil", "", "leads out"},
		{"warned of before", "repo/app/evil", "", ""},
		{"empty", "repo/app/empty", "", ""},
		{"outside the roots", "other/c.go", "", ""},
		{"missing", "repo/app/ui/nowhere.go", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := m.Discover(at(c.path))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if all := strings.Join(warnings, "\n"); (c.warning == "") != (all == "") || !strings.Contains(all, c.warning) {
				t.Errorf("warnings %q", all)
			}
		})
	}
	if got := m.Contents(); got.Files[len(got.Files)-1] != (File{at("repo/app/ui/x/GEMINI.md"), Discovered, strings.Split(x, "\n--- End")[0][strings.Index(x, "\n")+1:]}) ||
		!strings.Contains(got.Show(), "--- Newly Discovered ---\n"+ui) {
		t.Errorf("what came late is not in use: %s", got.Show())
	}
	m.Reload()
	if _, warnings := m.Discover(at("repo/app/evil")); len(warnings) != 1 {
		t.Errorf("after a reload: %q", warnings)
	}
	if got, _ := m.Discover(at("repo/app/ui/x/b.go")); got != ui+"\n\n"+x {
		t.Errorf("after a reload: %q", got)
	}
	if got, _ := New(in(top)).Discover(at("repo/app/ui/x/b.go")); got != "" {
		t.Errorf("untrusted: %q", got)
	}
	cfg := in(top, "repo/app/ui")
	cfg.OwnedByOther = func(path string) string { return "it is another's: " + filepath.Base(filepath.Dir(path)) }
	var told []string
	cfg.Warn = func(text string) { told = append(told, text) }
	if got := New(cfg).Contents(); got.Project != ui || len(told) != 1 || !strings.Contains(told[0], "GEMINI.md is not read: it is another's: repo") {
		t.Errorf("of another user: %s, warnings %q", got.Project, told)
	}
	cfg = in(top, "repo/app")
	cfg.Undecided = func() bool { return true }
	m = New(cfg)
	for _, want := range []string{"ui/GEMINI.md is not used: nobody has decided", ""} { // told once
		got, warnings := m.Discover(at("repo/app/ui/notes.md"))
		if all := strings.Join(warnings, "\n"); got != "" || (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("undecided: %q, warnings %q; want %q", got, all, want)
		}
	}
}

func TestShow(t *testing.T) {
	c := contents([]File{{"/h/GEMINI.md", Global, "be kind"}, {"/p/MEMORY.md", Private, "port"}, {"/e/CTX.md", Extension, "E"}, {"/w/GEMINI.md", Project, "A"}})
	want := `Current memory content from 4 file(s):

---
--- Global ---
--- Context from: /h/GEMINI.md ---
be kind
--- End of Context from: /h/GEMINI.md ---

--- Private Project Memory ---
port

--- Extension ---
--- Context from: /e/CTX.md ---
E
--- End of Context from: /e/CTX.md ---

--- Project ---
--- Context from: /w/GEMINI.md ---
A
--- End of Context from: /w/GEMINI.md ---
---`
	if d := cmp.Diff(want, c.Show()); d != "" {
		t.Error(d)
	}
	if want := "There are 4 GEMINI.md file(s) in use:\n\n/h/GEMINI.md\n/p/MEMORY.md\n/e/CTX.md\n/w/GEMINI.md"; c.List() != want {
		t.Errorf("List() = %q", c.List())
	}
	if want := "Memory reloaded successfully. Loaded 238 characters from 4 file(s)"; c.Reloaded() != want {
		t.Errorf("Reloaded() = %q", c.Reloaded())
	}
	var none Contents
	if none.Show() != "Memory is currently empty." || none.List() != "No GEMINI.md files in use." || !strings.Contains(none.Reloaded(), "No memory content found") {
		t.Errorf("%q, %q, %q", none.Show(), none.List(), none.Reloaded())
	}
}

func FuzzRead(f *testing.F) {
	f.Add("12345678\U0001f600", 10)
	f.Add("\xf0\x9f\x98", 2)
	f.Add("\ufeff\xff", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit <= 0 || limit > 1<<20 {
			limit = 10
		}
		l := loader{limit: limit}
		got, err := l.read(strings.NewReader(text), "f")
		if err != nil || !utf8.ValidString(got) || got != strings.TrimSpace(got) || utf8.RuneCountInString(got) > limit {
			t.Errorf("read(%q, %d) = %q, %v", text, limit, got, err)
		}
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") && strings.Contains(got, "\ufffd") && !strings.Contains(text, "\ufffd") {
			t.Errorf("read(%q, %d) = %q: cut within a character", text, limit, got)
		}
	})
}
