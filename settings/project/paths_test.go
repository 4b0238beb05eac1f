package project

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHome(t *testing.T) {
	for _, c := range []struct{ name, home, gemini, want string }{
		{"home", "/home/u", "", "/home/u/.gemini"},
		{"GEMINI_CLI_HOME", "/home/u", "/srv/g", "/srv/g/.gemini"},
		{"relative", "/home/u", "g", "/src/g/.gemini"},
		{"not of the project", "/home/u", "~/g", "/home/u/g/.gemini"},
		{"none", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(c.home, c.gemini, "/src")
			if got := p.User(); filepath.ToSlash(got) != c.want && runtime.GOOS != "windows" {
				t.Errorf("User() = %q, want %q", got, c.want)
			}
		})
	}
}

func TestSlug(t *testing.T) {
	for path, want := range map[string]string{
		"/src/app":          "app",
		"/src/My App (2)":   "my-app-2",
		"/src/--x--":        "x",
		"/src/日本語":          "project",
		"/":                 "project",
		"/src/Über.Projekt": "ber-projekt",
		"/src/a___b":        "a-b",
	} {
		if got := slugOf(path); got != want {
			t.Errorf("slugOf(%q) = %q, want %q", path, got, want)
		}
	}
}

func FuzzSlug(f *testing.F) {
	f.Add("/src/My App")
	f.Add("\xff/\x00-")
	f.Fuzz(func(t *testing.T, path string) {
		s := slugOf(path)
		if !usable(s) || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
			t.Errorf("slugOf(%q) = %q", path, s)
		}
	})
}

// folder makes a directory below a fresh home and returns its paths.
func folder(t *testing.T, home, name string) Paths {
	t.Helper()
	dir := filepath.Join(home, "src", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return New(home, "", dir)
}

func tempHome(t *testing.T) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func find(t *testing.T, p Paths) Store {
	t.Helper()
	pr, err := p.Register(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

func registered(t *testing.T, home string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(home, ".gemini", "projects.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Projects map[string]string }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	return file.Projects
}

func TestRegister(t *testing.T) {
	home := tempHome(t)
	p := folder(t, home, "app")
	if _, err := os.Stat(p.User()); err == nil {
		t.Fatal("New has written to the disk")
	}
	pr := find(t, p)
	want := Store{Root: p.Cwd, Slug: "app", Hash: Hash(p.Cwd), Temp: filepath.Join(home, ".gemini", "tmp", "app")}
	if d := cmp.Diff(want, pr); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{p.Cwd: "app"}, registered(t, home)); d != "" && runtime.GOOS != "windows" {
		t.Error(d)
	}
	for _, place := range []string{"tmp", "history"} {
		b, err := os.ReadFile(filepath.Join(home, ".gemini", place, "app", ".project_root"))
		if err != nil || string(b) != p.Cwd && runtime.GOOS != "windows" {
			t.Errorf("marker in %s: %q, %v", place, b, err)
		}
		if info, err := os.Stat(filepath.Join(home, ".gemini", place, "app")); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", place, info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".gemini", "projects.json.lock")); err == nil {
		t.Error("the lock is still there")
	}
	before, _ := os.Stat(filepath.Join(home, ".gemini", "projects.json"))
	if again := find(t, p); again != pr {
		t.Errorf("second time: %+v", again)
	}
	if after, _ := os.Stat(filepath.Join(home, ".gemini", "projects.json")); !os.SameFile(before, after) {
		t.Error("the registry was written again")
	}
}

func TestTaken(t *testing.T) {
	home := tempHome(t)
	first := find(t, folder(t, home, "x/app"))
	second := find(t, folder(t, home, "y/app"))
	if first.Slug != "app" || second.Slug != "app-1" {
		t.Errorf("slugs %q and %q", first.Slug, second.Slug)
	}
	t.Run("by its marker only", func(t *testing.T) {
		home := tempHome(t)
		dir := filepath.Join(home, ".gemini", "history", "app")
		os.MkdirAll(dir, 0o700)
		os.WriteFile(filepath.Join(dir, ".project_root"), []byte("/elsewhere/app\n"), 0o600)
		if pr := find(t, folder(t, home, "app")); pr.Slug != "app-1" {
			t.Errorf("slug %q", pr.Slug)
		}
	})
	t.Run("registry lost", func(t *testing.T) {
		os.Remove(filepath.Join(home, ".gemini", "projects.json"))
		if pr := find(t, folder(t, home, "y/app")); pr.Slug != "app-1" {
			t.Errorf("slug %q: the marker is not found again", pr.Slug)
		}
	})
}

func TestOtherEntries(t *testing.T) {
	home := tempHome(t)
	os.MkdirAll(filepath.Join(home, ".gemini"), 0o700)
	path := filepath.Join(home, ".gemini", "projects.json")
	os.WriteFile(path, []byte(`{"version":3,"projects":{"/a":"a","/b":"../../x"}}`), 0o600)
	p := folder(t, home, "app")
	find(t, p)
	b, _ := os.ReadFile(path)
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	ps, _ := got["projects"].(map[string]any)
	if got["version"] != 3.0 || ps["/a"] != "a" || ps["/b"] != "../../x" || len(ps) != 3 {
		t.Errorf("registry is now %s", b)
	}
}

func TestUnusableSlug(t *testing.T) {
	home := tempHome(t)
	p := folder(t, home, "app")
	os.MkdirAll(p.User(), 0o700)
	b, _ := json.Marshal(map[string]any{"projects": map[string]string{p.Cwd: "../../../etc"}})
	os.WriteFile(p.User("projects.json"), b, 0o600)
	if pr := find(t, p); pr.Slug != "app" {
		t.Errorf("slug %q", pr.Slug)
	}
}

func TestDamagedRegistry(t *testing.T) {
	for _, content := range []string{"{", "[]", "null", `{"projects":[1]}`, `{"projects":{"/a":1}}`, "\xff\xfe"} {
		home := tempHome(t)
		p := folder(t, home, "app")
		os.MkdirAll(p.User(), 0o700)
		os.WriteFile(p.User("projects.json"), []byte(content), 0o600)
		pr, err := p.Register(t.Context())
		if err == nil || pr.Slug != "app" || pr.Temp == "" {
			t.Errorf("%q: %+v, %v", content, pr, err)
		}
		if b, _ := os.ReadFile(p.User("projects.json")); string(b) != content {
			t.Errorf("%q was overwritten by %q", content, b)
		}
		if again, known := p.Registered(); !known || again != pr {
			t.Errorf("%q: %+v is not found again", content, again)
		}
	}
}

// The name of a directory may end in white space.
func TestTrailingSpace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names here")
	}
	home := tempHome(t)
	for _, name := range []string{"app ", "app\t", "app\n"} {
		p := folder(t, home, name)
		if first, again := find(t, p), find(t, p); first != again {
			t.Errorf("%q: %s, then %s", name, first.Slug, again.Slug)
		}
		if _, known := p.Registered(); !known {
			t.Errorf("%q is not found", name)
		}
	}
}

func TestSideBySide(t *testing.T) {
	home := tempHome(t)
	var wg sync.WaitGroup
	want := map[string]string{}
	for i := range 8 {
		p := folder(t, home, fmt.Sprintf("%d/app", i))
		want[p.Cwd] = ""
		wg.Go(func() {
			if _, err := p.Register(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := registered(t, home)
	if len(got) != len(want) {
		t.Fatalf("%d of %d entries: %v", len(got), len(want), got)
	}
	seen := map[string]bool{}
	for _, slug := range got {
		if seen[slug] {
			t.Errorf("slug %q was given twice", slug)
		}
		seen[slug] = true
	}
}

func TestLock(t *testing.T) {
	lockDir := func(t *testing.T, age time.Duration) (Paths, string) {
		p := folder(t, tempHome(t), "app")
		path := p.User("projects.json.lock")
		os.MkdirAll(path, 0o700)
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return p, path
	}
	t.Run("held", func(t *testing.T) {
		p, path := lockDir(t, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		pr, err := p.Register(ctx)
		if err == nil || pr.Slug != "app" {
			t.Errorf("%+v, %v", pr, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error("another program's lock is gone")
		}
		if _, err := os.Stat(p.User("projects.json")); err == nil {
			t.Error("the registry was written without the lock")
		}
	})
	t.Run("stale", func(t *testing.T) {
		p, path := lockDir(t, 20*time.Second)
		if pr := find(t, p); pr.Slug != "app" {
			t.Errorf("%+v", pr)
		}
		if left, _ := filepath.Glob(path + "*"); left != nil {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("lost", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "l")
		l, err := Acquire(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(path)
		os.Mkdir(path, 0o700)
		os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
		if l.Held() {
			t.Error("the next program's lock is taken for ours")
		}
		if l.Release(); l.Held() {
			t.Error("held after release")
		}
		if _, err := os.Stat(path); err != nil {
			t.Error("the next program's lock was removed")
		}
	})
}

func TestNowhereToWrite(t *testing.T) {
	t.Run("no home", func(t *testing.T) {
		pr, err := New("", "", t.TempDir()).Register(t.Context())
		if err == nil || pr.Slug == "" || pr.Temp != "" || pr.Chats() != "" {
			t.Errorf("%+v, %v", pr, err)
		}
	})
	t.Run("a file in the way", func(t *testing.T) { // root can't be kept out by modes
		home := tempHome(t)
		p := folder(t, home, "app")
		os.WriteFile(filepath.Join(home, ".gemini"), nil, 0o600)
		pr, err := p.Register(t.Context())
		if err == nil || pr.Slug != "app" || pr.Temp == "" {
			t.Errorf("%+v, %v", pr, err)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		if os.Getuid() == 0 || runtime.GOOS == "windows" {
			t.Skip("modes do not keep this user out")
		}
		home := tempHome(t)
		p := folder(t, home, "app")
		os.Chmod(home, 0o500)
		defer os.Chmod(home, 0o700)
		pr, err := p.Register(t.Context())
		if err == nil || pr.Slug != "app" {
			t.Errorf("%+v, %v", pr, err)
		}
	})
}

func TestLinkedDirectory(t *testing.T) {
	home := tempHome(t)
	p := folder(t, home, "app")
	link := filepath.Join(home, "link")
	if err := os.Symlink(p.Cwd, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if a, b := find(t, p), find(t, New(home, "", link)); a != b {
		t.Errorf("%+v and %+v", a, b)
	}
}
