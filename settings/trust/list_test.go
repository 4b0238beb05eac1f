package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

func TestJudge(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	type rules = []Decision
	for _, c := range []struct {
		name   string
		rules  rules
		folder string
		want   State
		by     int // the rule that decides
	}{
		{"no rule", nil, "/no/a", Unknown, -1},
		{"itself", rules{{"/no/a", Folder}}, "/no/a", Trusted, 0},
		{"below", rules{{"/no/a", Folder}}, "/no/a/b/c", Trusted, 0},
		{"beside", rules{{"/no/a", Folder}}, "/no/ab", Unknown, -1},
		{"above", rules{{"/no/a/b", Folder}}, "/no/a", Unknown, -1},
		{"parent", rules{{"/no/a/b", Parent}}, "/no/a/c", Trusted, 0},
		{"the parent itself", rules{{"/no/a/b", Parent}}, "/no/a", Trusted, 0},
		{"not the parent's parent", rules{{"/no/a/b", Parent}}, "/no/x", Unknown, -1},
		{"distrusted", rules{{"/no/a", Deny}}, "/no/a/b", Distrusted, 0},
		{"longest", rules{{"/no", Folder}, {"/no/a", Deny}, {"/no/a/b", Folder}}, "/no/a/b/c", Trusted, 2},
		{"longest denies", rules{{"/no", Folder}, {"/no/a", Deny}}, "/no/a/x", Distrusted, 1},
		{"the same path", rules{{"/no/a", Deny}, {"/no/a/b", Parent}}, "/no/a/b", Distrusted, 0},
		{"the same name", rules{{"/no/a", Deny}, {"/no/a", Folder}}, "/no/a", Distrusted, 0},
		{"relative", rules{{".", Folder}, {"no/a", Folder}}, "/no/a", Unknown, -1},
		{"everything", rules{{"/", Folder}}, "/no/a", Trusted, 0},
		{"the parent of everything", rules{{"/", Parent}}, "/no/a", Trusted, 0},
		{"dots", rules{{"/no/x/../a/", Folder}}, "/no/a", Trusted, 0},
		{"a name with dots", rules{{"/no/a", Folder}}, "/no/a/..b", Trusted, 0},
		{"another case", rules{{"/no/A", Folder}}, "/no/a", Unknown, -1},
	} {
		want := Decision{}
		if c.by >= 0 {
			want = c.rules[c.by]
		}
		for range 2 { // the order must not matter
			if got, by := judge(c.rules, c.folder); got != c.want || by != want {
				t.Errorf("%s: %v by %v, want %v by %v", c.name, got, by, c.want, want)
			}
			slices.Reverse(c.rules)
		}
	}
	t.Run("links", func(t *testing.T) {
		dir := tempHome(t)
		os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o755)
		if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")); err != nil {
			t.Skip(err)
		}
		if got, _ := judge(rules{{filepath.Join(dir, "link"), Deny}}, filepath.Join(dir, "real", "sub")); got != Distrusted {
			t.Errorf("%v", got)
		}
		if got := (project.Paths{Cwd: filepath.Join(dir, "link")}).Folder("sub"); got != filepath.Join(dir, "real", "sub") {
			t.Errorf("%v", got)
		}
	})
}

// A folder of the project called ~ does not say whom to trust.
func TestTilde(t *testing.T) {
	p := clone(t)
	t.Chdir(p.Cwd)
	put(t, p.Cwd, map[string]string{"~/x.json": `{"/": "TRUST_FOLDER"}`, ".gemini/settings.json": "{}"})
	got, err := Decide(p, settings.Default(), &flags.Set{}, env("GEMINI_CLI_TRUSTED_FOLDERS_PATH", "~/x.json"))
	if err != nil || got.State != Unknown || got.Why != "" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRemember(t *testing.T) {
	p := clone(t)
	path := p.User("trustedFolders.json")
	state := func() State {
		got, err := Decide(p, settings.Default(), &flags.Set{}, env())
		if err != nil {
			t.Fatal(err)
		}
		return got.State
	}
	if was, err := Folders(p, env()).Remember(t.Context(), p.Cwd, Folder); err != nil || len(was) > 0 || state() != Trusted {
		t.Fatalf("%v, %v, state %v", was, err, state())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	os.WriteFile(path, fmt.Appendf(nil, "{%q: \"DO_NOT_TRUST\"} // a comment without an end", p.Cwd), 0o600)
	if state() != Distrusted {
		t.Error("the comment hides the rule")
	}
	const text = "{\n  // mine\n  \"/srv\": \"TRUST_FOLDER\", // kept\n  \"/opt\": \"DO_NOT_TRUST\"\n}\n"
	os.WriteFile(path, []byte(text), 0o600)
	if _, err := Folders(p, env()).Remember(t.Context(), p.Cwd, Deny); err != nil || state() != Distrusted {
		t.Fatalf("%v, state %v", err, state())
	}
	b, _ := os.ReadFile(path)
	for _, text := range []string{"// mine", "\"/srv\": \"TRUST_FOLDER\"", "// kept"} {
		if !strings.Contains(string(b), text) {
			t.Errorf("%s is gone: %s", text, b)
		}
	}
	if was, err := Folders(p, env()).Remember(t.Context(), p.Cwd, Parent); err != nil || !slices.Equal(was, []Decision{{p.Cwd, Deny}}) || state() != Trusted {
		t.Fatalf("%v, %v, state %v", was, err, state())
	}
	if was, err := Folders(p, env()).Remember(t.Context(), p.Cwd, ""); err != nil || !slices.Equal(was, []Decision{{p.Cwd, Parent}}) || state() != Unknown {
		t.Fatalf("%v, %v, state %v", was, err, state())
	}
	if b, _ := os.ReadFile(path); string(b) != text {
		t.Error(cmp.Diff(text, string(b)))
	}
	if was, err := Folders(p, env()).Remember(t.Context(), p.Cwd, ""); err != nil || len(was) > 0 {
		t.Errorf("forgotten twice: %v, %v", was, err)
	}
	if err := Folders(p, env()).Keep(t.Context(), p.Cwd); err != nil || state() != Trusted {
		t.Errorf("kept: %v, %v", err, state())
	}
	if entries, _ := os.ReadDir(p.User()); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// A folder may stand in the list more than once, and in several spellings.
func TestSpellings(t *testing.T) {
	p := clone(t)
	path := p.User("trustedFolders.json")
	os.MkdirAll(p.User(), 0o700)
	write := func() {
		os.WriteFile(path, fmt.Appendf(nil, `{%[1]q: "TRUST_FOLDER", "/srv": "TRUST_FOLDER", "%[2]s/": "DO_NOT_TRUST", %[1]q: "TRUST_FOLDER"}`, p.Cwd, p.Cwd), 0o600)
	}
	write()
	if _, err := Folders(p, env()).Remember(t.Context(), p.Cwd, Deny); err != nil {
		t.Fatal(err)
	}
	if got, err := Folders(p, env()).Decisions(); err != nil || len(got) != 2 || !slices.Contains(got, Decision{p.Cwd, Deny}) {
		t.Errorf("%v, %v", got, err)
	}
	write()
	if was, err := Folders(p, env()).Remember(t.Context(), p.Cwd, ""); err != nil || len(was) != 3 {
		t.Fatal(was, err)
	}
	if got, err := Folders(p, env()).Decisions(); err != nil || !slices.Equal(got, []Decision{{"/srv", Folder}}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDecisionsSideBySide(t *testing.T) {
	p := folder(t, tempHome(t), "a")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 4 {
				if _, err := Folders(p, env()).Remember(t.Context(), fmt.Sprintf("/srv/%d/%d", i, j), Folder); err != nil {
					t.Error(err)
				}
			}
			if _, err := Folders(p, env()).Remember(t.Context(), fmt.Sprintf("/srv/%d/0", i), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if rules, err := Folders(p, env()).Decisions(); len(rules) != 24 || err != nil {
		t.Errorf("%d: %v, %v", len(rules), rules, err)
	}
}

// What a program that was killed left behind goes with the next change.
func TestRulesAreSwept(t *testing.T) {
	p := folder(t, tempHome(t), "a")
	put(t, p.User(), map[string]string{".gemline-trustedFolders.json-123": "{", ".gemline-settings.json-1": "{"})
	if _, err := Folders(p, env()).Remember(t.Context(), "/srv", Folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".gemline-trustedFolders.json-123": false, ".gemline-settings.json-1": true, "trustedFolders.json": true} {
		if _, err := os.Stat(p.User(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnusableRules(t *testing.T) {
	p := clone(t)
	path := p.User("trustedFolders.json")
	os.MkdirAll(p.User(), 0o700)
	refused := func(name, text string, mode os.FileMode) {
		t.Helper()
		os.WriteFile(path, []byte(text), 0o600)
		os.Chmod(path, mode)
		_, err := Decide(p, settings.Default(), &flags.Set{}, env())
		var fe *jsonc.Error
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Folders(p, env()).Remember(t.Context(), p.Cwd, Folder); !errors.As(err, &fe) {
			t.Errorf("%s: written over: %v", name, err)
		}
		if _, err := Folders(p, env()).Remember(t.Context(), p.Cwd, ""); !errors.As(err, &fe) {
			t.Errorf("%s: written over: %v", name, err)
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%s: is now %q", name, b)
		}
	}
	refused("no JSON", "{", 0o600)
	refused("a list", "[]", 0o600)
	refused("no rule", `{"/a": "TRUST"}`, 0o600)
	refused("no word", `{"/a": true}`, 0o600)
	refused("an object", `{"/a": {}}`, 0o600)
	if runtime.GOOS != "windows" {
		refused("anybody may write", `{}`, 0o666)
		os.Chmod(p.User(), 0o777)
		refused("anybody may replace", `{}`, 0o600)
		os.Chmod(p.User(), 0o700)
	}
	for _, text := range []string{"", " \n", "\ufeff{}"} {
		os.WriteFile(path, []byte(text), 0o600)
		if got, err := Folders(p, env()).Decisions(); len(got) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := Folders(project.Paths{Cwd: p.Cwd}, env()).Remember(t.Context(), p.Cwd, Folder); err == nil {
		t.Error("kept without a home directory")
	}
	if _, err := Folders(p, env()).Remember(t.Context(), "/srv/\xff", Folder); err == nil {
		t.Error("kept what JSON can't hold")
	}
}

// What is written is read again as what was meant, whatever the folder is
// called, and the rest of the list stays.
func FuzzWithRule(f *testing.F) {
	f.Add("{ // a\n \"/b\": \"TRUST_FOLDER\", }", "/a~b/c")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, text, folder string) {
		old, err := jsonc.Parse("x", []byte(text))
		if err != nil || strings.ToValidUTF8(folder, "") != folder {
			return
		}
		b, err := withRule([]byte(text), folder, Deny)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		now, err := jsonc.Parse("x", b)
		if err != nil || now.Tree[folder] != string(Deny) {
			t.Fatalf("%q: %q, %v", text, b, err)
		}
		if b, err = withRule(b, folder, ""); err != nil {
			t.Fatal(err)
		}
		delete(old.Tree, folder)
		if now, err = jsonc.Parse("x", b); err != nil || !cmp.Equal(now.Tree, old.Tree) {
			t.Errorf("%q: %q: %v, want %v, %v", text, b, now, old, err)
		}
	})
}
