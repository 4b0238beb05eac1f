package extension

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// plant makes files below a fresh directory; a text that begins with "->" is
// a link.
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
		text = strings.ReplaceAll(text, "TOP", filepath.ToSlash(top))
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// tell returns what is installed in a line each, with TOP for top.
func tell(top string, list []Extension) (out []string) {
	for _, x := range list {
		line := fmt.Sprintf("%s %s in %s", x.Name, x.Version, x.Dir)
		if x.Linked {
			line += " linked"
		}
		if !x.Active {
			line += " off"
		}
		if len(x.Contents.ContextFiles) > 0 {
			line += ": " + strings.Join(x.Contents.ContextFiles, " ")
		}
		out = append(out, filepath.ToSlash(strings.ReplaceAll(line, top, "TOP")))
	}
	return out
}

func TestInstalled(t *testing.T) {
	const dir = "ext/"
	for _, c := range []struct {
		name     string
		files    map[string]string
		want     []string
		warnings []string // what they hold, in order
	}{
		{name: "no directory"},
		{"plain, with the usual context file", map[string]string{"b/gemini-extension.json": `{"name":"b","version":"1","later":[{}]}`, "b/GEMINI.md": "x",
			"a/gemini-extension.json": "\ufeff" + `{"name":"a","version":"2.0.0"}`},
			[]string{"a 2.0.0 in TOP/ext/a", "b 1 in TOP/ext/b: TOP/ext/b/GEMINI.md"}, nil},
		{"one context file", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":"docs${/}CTX.md"}`, "a/docs/CTX.md": "x", "a/GEMINI.md": "no"},
			[]string{"a 1 in TOP/ext/a: TOP/ext/a/docs/CTX.md"}, nil},
		{"several context files, some missing", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":["z.md","none.md","dir","y.md","z.md"]}`,
			"a/z.md": "", "a/y.md": "", "a/dir/x": ""},
			[]string{"a 1 in TOP/ext/a: TOP/ext/a/y.md TOP/ext/a/z.md"}, nil},
		{"linked", map[string]string{"a/.gemini-extension-install.json": `{"source":"TOP/src","type":"link"}`, "../src/gemini-extension.json": `{"name":"mine","version":"1"}`, "../src/GEMINI.md": "x"},
			[]string{"mine 1 in TOP/src linked: TOP/src/GEMINI.md"}, nil},
		{"installed from elsewhere", map[string]string{"a/.gemini-extension-install.json": `{"source":"TOP/src","type":"local"}`, "a/gemini-extension.json": `{"name":"a","version":"1"}`},
			[]string{"a 1 in TOP/ext/a"}, nil},
		{"a link of the file system", map[string]string{"a": "->../src", "../src/gemini-extension.json": `{"name":"a","version":"1"}`},
			[]string{"a 1 in TOP/ext/a"}, nil},
		{"files beside, and hidden directories", map[string]string{"notes.txt": "", ".tmp/x": ""}, nil, nil},

		{"no manifest", map[string]string{"a/x": "", "b/gemini-extension.json": `{"name":"b","version":"1"}`},
			[]string{"b 1 in TOP/ext/b"}, []string{"extension a is not used: there is no file gemini-extension.json in TOP/ext/a"}},
		{"not JSON", map[string]string{"a/gemini-extension.json": "{\n \"name\": x}"}, nil, []string{"a/gemini-extension.json:2:10: invalid character 'x'"}},
		{"cut off", map[string]string{"a/gemini-extension.json": "{"}, nil, []string{"a/gemini-extension.json:1:1: unexpected end"}},
		{"empty", map[string]string{"a/gemini-extension.json": ""}, nil, []string{"gemini-extension.json:1:1: unexpected end"}},
		{"a list", map[string]string{"a/gemini-extension.json": "[]"}, nil, []string{"it is not an object"}},
		{"null", map[string]string{"a/gemini-extension.json": "null"}, nil, []string{"it has no name"}},
		{"a name of the wrong kind", map[string]string{"a/gemini-extension.json": `{"name":1}`}, nil, []string{"name must be a string, not a number"}},
		{"a bad name", map[string]string{"a/gemini-extension.json": `{"name":"../a","version":"1"}`}, nil, []string{`the name "../a" may hold only`}},
		{"no version", map[string]string{"a/gemini-extension.json": `{"name":"a"}`}, nil, []string{"it has no version"}},
		{"bad context names", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":{}}`}, nil, []string{"contextFileName must be a string or a list"}},
		{"context above", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":["x.md","../../secret"]}`, "../secret": ""}, nil, []string{`"../../secret" leads out`}},
		{"context anywhere", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":"/etc/passwd"}`}, nil, []string{`"/etc/passwd" leads out`}},
		{"context by a variable", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":"${extensionPath}/../../secret"}`}, nil, []string{"leads out"}},
		{"context with a zero byte", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1","contextFileName":"a\u0000b"}`}, nil, []string{"leads out"}},
		{"the same name twice", map[string]string{"a/gemini-extension.json": `{"name":"x","version":"1"}`, "b/gemini-extension.json": `{"name":"X","version":"2"}`},
			[]string{"x 1 in TOP/ext/a"}, []string{"extension b is not used: TOP/ext/a has the same name"}},
		{"too long", map[string]string{"a/gemini-extension.json": strings.Repeat(" ", maxFile+1)}, nil, []string{"is larger than 1 MiB"}},
		{"a directory in its place", map[string]string{"a/gemini-extension.json/x": ""}, nil, []string{"is a directory"}},
		{"a link to nowhere", map[string]string{"a/.gemini-extension-install.json": `{"source":"TOP/gone","type":"link"}`}, nil, []string{"there is no file gemini-extension.json"}},
		{"a link that depends on the place", map[string]string{"a/.gemini-extension-install.json": `{"source":"./src","type":"link"}`}, nil, []string{`"./src" is not an absolute path`}},
		{"a broken note", map[string]string{"a/.gemini-extension-install.json": `{`, "a/gemini-extension.json": `{"name":"a","version":"1"}`}, nil, []string{".gemini-extension-install.json:1:1"}},
		{"a broken list of switches", map[string]string{"a/gemini-extension.json": `{"name":"a","version":"1"}`, "extension-enablement.json": "{"},
			[]string{"a 1 in TOP/ext/a off"}, []string{"no extension is used, since it is not known"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range c.files {
				files[dir+name] = text
			}
			top := plant(t, files)
			list, warnings := Installed(Config{Dir: filepath.Join(top, dir), Cwd: top})
			if d := cmp.Diff(c.want, tell(top, list)); d != "" {
				t.Error(d)
			}
			if len(warnings) != len(c.warnings) {
				t.Fatalf("warnings %q", warnings)
			}
			for i, w := range warnings {
				if !strings.Contains(filepath.ToSlash(w), strings.ReplaceAll(c.warnings[i], "TOP", filepath.ToSlash(top))) {
					t.Errorf("warning %q, want %q", w, c.warnings[i])
				}
			}
		})
	}
	if list, warnings := Installed(Config{}); list != nil || warnings != nil {
		t.Errorf("without a home directory: %v, %q", list, warnings)
	}
}

func TestSwitches(t *testing.T) {
	files := map[string]string{"extension-enablement.json": `{"b":{"overrides":["!/*"]},"c":{"overrides":["!/*","TOP/*"]},"d":{}}`}
	for _, name := range []string{"a", "b", "c", "d"} {
		files[name+"/gemini-extension.json"] = `{"name":"` + name + `","version":"1"}`
	}
	top := plant(t, files)
	for _, c := range []struct {
		name           string
		only, disabled []string
		want           string
		warning        string
	}{
		{name: "by the list", want: "a c d"},
		{name: "switched off", disabled: []string{"A", "d", "gone"}, want: "c"},
		{name: "these only", only: []string{" B", "a", ""}, disabled: []string{"a"}, want: "a b"},
		{name: "none", only: []string{"None"}, want: ""},
		{name: "not there", only: []string{"x"}, want: "", warning: "Extension not found: x"},
		{name: "an empty name", only: []string{""}, want: "a c d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, warnings := Installed(Config{Dir: top, Cwd: top, Only: c.only, Disabled: c.disabled})
			var on []string
			for _, x := range list {
				if x.Active {
					on = append(on, x.Name)
				}
			}
			if got := strings.Join(on, " "); got != c.want || strings.Join(warnings, "|") != c.warning {
				t.Errorf("got %q, want %q; warnings %q", got, c.want, warnings)
			}
		})
	}
}

// The rules of those that are switched on are found, wherever they lie; what
// lies in none is not opened.
func TestPolicies(t *testing.T) {
	const manifest = `{"name":"NAME","version":"1"}`
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"none installed", nil, nil},
		{"no rules", map[string]string{"ext/a/gemini-extension.json": manifest}, nil},
		{"rules of one of two", map[string]string{"ext/a/gemini-extension.json": manifest, "ext/b/gemini-extension.json": manifest, "ext/b/policies/x.toml": ""},
			[]string{"TOP/ext/a/policies", "TOP/ext/b/policies"}},
		{"elsewhere", map[string]string{"ext/a/.gemini-extension-install.json": `{"source":"TOP/src","type":"link"}`, "src/gemini-extension.json": manifest, "src/policies/x.toml": ""},
			[]string{"TOP/src/policies"}},
		{"switched off", map[string]string{"ext/a/gemini-extension.json": manifest, "ext/a/policies/x.toml": "", "ext/extension-enablement.json": `{"a":{"overrides":["!/*"]}}`}, nil},
		{"no extension at all", map[string]string{"ext/a/policies/x.toml": ""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range c.files {
				files[name] = strings.ReplaceAll(text, "NAME", filepath.Base(filepath.Dir(name)))
			}
			top := plant(t, files)
			var got []string
			for _, dir := range Policies(Config{Dir: filepath.Join(top, "ext"), Cwd: top}) {
				got = append(got, filepath.ToSlash(strings.ReplaceAll(dir, top, "TOP")))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rules, at string // rules divided by spaces
		want      bool
	}{
		{"", "/home/u/", true},
		{"!/home/u/*", "/home/u/", false},
		{"!/home/u/*", "/home/u/a/b/", false},
		{"!/home/u/*", "/home/user/", true},
		{"!/home/u/*", "/srv/", true},
		{"!/home/u/", "/home/u/", false},
		{"!/home/u/", "/home/u/a/", true},
		{"!/home/u/* /home/u/a/*", "/home/u/a/b/", true},
		{"/home/u/a/* !/home/u/*", "/home/u/a/b/", false},
		{"!/*", "/", false},
		{"!/home/*/secret/*", "/home/u/secret/x/", false},
		{"!/home/u.x/*", "/home/uyx/", true},
		{"!/(/*", "/(/a/", false},
	} {
		if got := enabled(strings.Fields(c.rules), c.at); got != c.want {
			t.Errorf("enabled(%q, %q) = %v", c.rules, c.at, got)
		}
	}
}

// FuzzRules shows that a rule without a star is about one directory, and one
// with a star at its end about all below.
func FuzzRules(f *testing.F) {
	f.Add("/home/u/", "/home/u/x/")
	f.Add("!/(/*", "/(/")
	f.Fuzz(func(t *testing.T, rule, at string) {
		bare := strings.TrimPrefix(rule, "!")
		if !utf8.ValidString(bare) {
			return // JSON has no such texts
		}
		if got := enabled([]string{"!" + bare}, at); !strings.Contains(bare, "*") && got == (bare == at) {
			t.Errorf("the rule %q at %q: %v", bare, at, got)
		}
		if !strings.Contains(bare, "*") && !fits(bare+"*", bare+at) {
			t.Errorf("%q* is not about %q", bare, bare+at)
		}
	})
}

// FuzzManifest shows that whatever a manifest says, the context files are below
// the extension's directory.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{`{"name":"a","version":"1"}`, `{"name":"a","version":"1","contextFileName":["GEMINI.md","../x","/etc/passwd"]}`,
		`{"name":"a","version":"1","contextFileName":"${extensionPath}${/}..${/}..${/}secret"}`, "{", "null", "[]", `{"name":"\u0000"}`} {
		f.Add(s)
	}
	top := plant(f, map[string]string{"ext/a/GEMINI.md": "x", "ext/a/sub/GEMINI.md": "x", "ext/x": "", "secret": "s"})
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(top, "ext", "a", manifestName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, warnings := Installed(Config{Dir: filepath.Join(top, "ext"), Cwd: top})
		if len(list)+len(warnings) != 1 {
			t.Errorf("%q: %v and %q", text, list, warnings)
		}
		for _, x := range list {
			for _, path := range x.Contents.ContextFiles {
				if rel, err := filepath.Rel(x.Dir, path); err != nil || !filepath.IsLocal(rel) {
					t.Errorf("%q: %s", text, path)
				}
			}
		}
	})
}

// A key of the manifest that nobody knows is named; those that are only passed over are not.
func TestUnknownKeys(t *testing.T) {
	dir := t.TempDir()
	said := `{"name": "x", "version": "1.0.0", "themes": [], "plan": {}, "contextFile": "A.md", "fill": 1, "date": 1, "exclude_tools": [],
		"settings": [{"name": "a", "envVar": "A", "sensitiv": true}, {"name": "b", "envVar": "1"}]}`
	if err := os.WriteFile(filepath.Join(dir, "gemini-extension.json"), []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "hooks"), 0o700), os.WriteFile(filepath.Join(dir, "hooks", "hooks.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err) // without hooks nothing is wrong
	}
	x, err := Read(dir, dir)
	if err != nil || !slices.Equal(x.Misread.Unknown, []string{"contextFile", "date", "fill"}) {
		t.Errorf("%q, %v", x.Misread.Unknown, err)
	}
	path := x.Manifest()
	if want := []string{path + `: the setting "b" has no name, or an envVar that is none`,
		path + `: "exclude_tools" means nothing; did you mean excludeTools?`,
		path + `: "settings.sensitiv" means nothing; did you mean sensitive?`}; !slices.Equal(x.Misread.Notes, want) {
		t.Errorf("%q", x.Misread.Notes)
	}
}
