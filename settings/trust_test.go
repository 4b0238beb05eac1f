package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for _, c := range []struct {
		name   string
		rules  map[string]Rule
		folder string
		want   State
	}{
		{"no rule", nil, "/no/a", Unknown},
		{"itself", map[string]Rule{"/no/a": TrustFolder}, "/no/a", Trusted},
		{"below", map[string]Rule{"/no/a": TrustFolder}, "/no/a/b/c", Trusted},
		{"beside", map[string]Rule{"/no/a": TrustFolder}, "/no/ab", Unknown},
		{"above", map[string]Rule{"/no/a/b": TrustFolder}, "/no/a", Unknown},
		{"parent", map[string]Rule{"/no/a/b": TrustParent}, "/no/a/c", Trusted},
		{"not the parent's parent", map[string]Rule{"/no/a/b": TrustParent}, "/no/x", Unknown},
		{"distrusted", map[string]Rule{"/no/a": DoNotTrust}, "/no/a/b", Distrusted},
		{"longest", map[string]Rule{"/no": TrustFolder, "/no/a": DoNotTrust, "/no/a/b": TrustFolder}, "/no/a/b/c", Trusted},
		{"longest denies", map[string]Rule{"/no": TrustFolder, "/no/a": DoNotTrust}, "/no/a/x", Distrusted},
		{"the same path", map[string]Rule{"/no/a": DoNotTrust, "/no/a/b": TrustParent}, "/no/a/b", Distrusted},
		{"relative", map[string]Rule{".": TrustFolder, "no/a": TrustFolder}, "/no/a", Unknown},
		{"everything", map[string]Rule{"/": TrustFolder}, "/no/a", Trusted},
		{"dots", map[string]Rule{"/no/x/../a/": TrustFolder}, "/no/a", Trusted},
		{"a name with dots", map[string]Rule{"/no/a": TrustFolder}, "/no/a/..b", Trusted},
	} {
		for range 8 { // the order of a map must not matter
			if got := judge(c.rules, c.folder); got != c.want {
				t.Errorf("%s: %d, want %d", c.name, got, c.want)
			}
		}
	}
	t.Run("links", func(t *testing.T) {
		dir := tempHome(t)
		os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o755)
		if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")); err != nil {
			t.Skip(err)
		}
		if got := judge(map[string]Rule{filepath.Join(dir, "link"): DoNotTrust}, filepath.Join(dir, "real", "sub")); got != Distrusted {
			t.Errorf("%d", got)
		}
	})
}

// clone makes a project that brings something, and returns its paths.
func clone(t *testing.T) Paths {
	t.Helper()
	p := project(t, tempHome(t), "clone")
	for name, text := range map[string]string{
		".git/HEAD": "", ".env": "A=1\nB=2\n", "GEMINI.md": "Hello.", ".mcp.json": "{}",
		".gemini/settings.json":      `{"model": {"name": "x"}, "mcpServers": {"s": {"command": "evil"}}, "hooks": {"BeforeTool": []}}`,
		".gemini/commands/x/go.toml": "", ".gemini/.env": "C=3",
	} {
		path := filepath.Join(p.Cwd, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestSurvey(t *testing.T) {
	p := clone(t)
	all := []Item{
		{Name: ".gemini/commands", Detail: "x/go.toml"},
		{Name: ".gemini/settings.json", Detail: "sets hooks.BeforeTool, mcpServers.s.command and model.name"},
		{Name: ".mcp.json", Detail: "2 bytes"},
		{Name: ".gemini/.env", Detail: "sets C"},
		{Name: "GEMINI.md", Detail: "6 bytes", Words: true},
	}
	if d := cmp.Diff(all, p.survey([]string{"GEMINI.md"})); d != "" {
		t.Error(d)
	}
	below := NewPaths(p.Home, "", filepath.Join(p.Cwd, "sub"))
	if d := cmp.Diff([]Item{{Name: "../.gemini/.env", Detail: "sets C"}, {Name: "../GEMINI.md", Detail: "6 bytes", Words: true}}, below.survey([]string{"GEMINI.md"})); d != "" {
		t.Error("below:", d)
	}
	// What is the user's own is not brought by a folder.
	home := NewPaths(p.Home, "", p.Home)
	for _, name := range []string{".env", "GEMINI.md"} {
		os.WriteFile(filepath.Join(p.Home, name), []byte("A=1"), 0o600)
	}
	os.MkdirAll(home.User("commands"), 0o700)
	if got := home.survey([]string{"GEMINI.md"}); got != nil {
		t.Errorf("at home: %v", got)
	}
	if got := project(t, p.Home, "plain").survey([]string{"GEMINI.md"}); got != nil {
		t.Errorf("in a plain folder: %v", got)
	}
}

func TestTrust(t *testing.T) {
	p := clone(t)
	plain := project(t, p.Home, "plain")
	words := project(t, p.Home, "words")
	for _, name := range []string{"GEMINI.md", ".gemini/system.md"} {
		os.MkdirAll(filepath.Dir(filepath.Join(words.Cwd, name)), 0o755)
		os.WriteFile(filepath.Join(words.Cwd, name), []byte("Hello."), 0o600)
	}
	off := Default()
	off.FolderTrust = false
	for _, c := range []struct {
		name   string
		paths  Paths
		s      *Settings
		skip   bool
		lookup func(string) (string, bool)
		want   State
		refuse bool
	}{
		{"unknown", p, Default(), false, env(), Unknown, true},
		{"brings nothing", plain, Default(), false, env(), Unneeded, false},
		{"brings words", words, Default(), false, env(), Unneeded, false},
		{"flag", p, Default(), true, env(), Trusted, false},
		{"variable", p, Default(), false, env("GEMINI_CLI_TRUST_WORKSPACE", "true"), Trusted, false},
		{"variable says no", p, off, true, env("GEMINI_CLI_TRUST_WORKSPACE", "false"), Distrusted, true},
		{"restricted", p, off, true, env("GEMINI_CLI_TRUST_WORKSPACE", "true", "GEMINI_RESTRICTED_MODE", "true"), Distrusted, true},
		{"restricted, brings nothing", plain, off, true, env("GEMINI_RESTRICTED_MODE", "true"), Distrusted, false},
		{"switched off", p, off, false, env(), Trusted, false},
		{"another word", p, Default(), false, env("GEMINI_CLI_TRUST_WORKSPACE", "yes"), Unknown, true},
	} {
		got, err := c.paths.Trust(c.s, c.skip, c.lookup, []string{"GEMINI.md"})
		if err != nil || got.State != c.want || got.State != Trusted && (got.Refuse() != nil) != c.refuse {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestRemember(t *testing.T) {
	p := clone(t)
	path := p.User("trustedFolders.json")
	state := func() State {
		got, err := p.Trust(Default(), false, env(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.State
	}
	if err := p.Remember(t.Context(), env(), p.Cwd, TrustFolder); err != nil || state() != Trusted {
		t.Fatalf("%v, state %d", err, state())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	os.WriteFile(path, []byte("{\n  // mine\n  \"/srv\": \"TRUST_FOLDER\", // kept\n}\n"), 0o600)
	if err := p.Remember(t.Context(), env(), p.Cwd, DoNotTrust); err != nil || state() != Distrusted {
		t.Fatalf("%v, state %d", err, state())
	}
	b, _ := os.ReadFile(path)
	for _, text := range []string{"// mine", "\"/srv\": \"TRUST_FOLDER\"", "// kept"} {
		if !strings.Contains(string(b), text) {
			t.Errorf("%s is gone: %s", text, b)
		}
	}
	t.Run("side by side", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if err := p.Remember(t.Context(), env(), fmt.Sprintf("/srv/%d", i), TrustFolder); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if rules, err := readRules(path); len(rules) != 10 || err != nil {
			t.Errorf("%v, %v", rules, err)
		}
	})
}

func TestUnusableRules(t *testing.T) {
	p := clone(t)
	path := p.User("trustedFolders.json")
	os.MkdirAll(p.User(), 0o700)
	refused := func(name, text string, mode os.FileMode) {
		os.WriteFile(path, []byte(text), 0o600)
		os.Chmod(path, mode)
		_, err := p.Trust(Default(), false, env(), nil)
		var fe *FileError
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Remember(t.Context(), env(), p.Cwd, TrustFolder); err == nil {
			t.Errorf("%s: written over", name)
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%s: is now %q", name, b)
		}
	}
	refused("no JSON", "{", 0o600)
	refused("a list", "[]", 0o600)
	refused("no rule", `{"/a": "TRUST"}`, 0o600)
	refused("no word", `{"/a": true}`, 0o600)
	if runtime.GOOS != "windows" {
		refused("anybody may write", `{}`, 0o666)
	}
}
