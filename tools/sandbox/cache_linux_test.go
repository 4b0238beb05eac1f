package sandbox

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// layered skips a test where one directory can't be laid above another.
func layered(t *testing.T) {
	t.Helper()
	if b, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(b), "\toverlay\n") {
		t.Skip("this kernel has no overlay")
	}
}

// TestCacheOfNobody runs the tests of caches as an ordinary user.
func TestCacheOfNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the others are run by an ordinary user")
	}
	base := shelves(t)
	os.Chmod(base, 0o755)
	out, ok, err := runAsNobody(t, base, "^TestCache(Files|Withheld|SideBySide|Builds)$")
	if !ok {
		t.Skip("nobody else can run tests here")
	}
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// A shelf is a user's cache, and what projects have.
type shelf struct {
	t    *testing.T
	base string
	user string // the cache
}

// shelves returns a directory that is not among the temporary ones, which
// commands see as their own.
func shelves(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp(here, "caches-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return base
}

func newShelf(t *testing.T, base string) shelf {
	t.Helper()
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	return shelf{t, base, filepath.Join(base, "user, his:cache")}
}

// project returns what commands of a project may do.
func (s shelf) project(name string) Profile {
	s.t.Helper()
	root, caches := filepath.Join(s.base, name), filepath.Join(s.base, "caches of "+name)
	for _, dir := range []string{root, caches} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	return Profile{Root: root, Write: []string{caches}, Cache: filepath.Join(caches, "go-build"), Below: s.user}
}

// in runs a script in a project.
func (s shelf) in(k *Kernel, p Profile, script string) string {
	s.t.Helper()
	out, err := bash(s.t, k, p, "C='"+p.Cache+"' U='"+s.user+"'\n"+script)
	if err != nil {
		s.t.Errorf("%s: %v: %s", script, err, out)
	}
	return out
}

// fill puts files of some age into the user's cache.
func (s shelf) fill() {
	s.t.Helper()
	for _, name := range []string{"aa/changed", "aa/touched", "ab/removed", "ab/linked", "ab/moved"} {
		path := filepath.Join(s.user, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.age()
}

// age makes what is in the user's cache old enough for the go command to say
// that it is in use.
func (s shelf) age() {
	s.t.Helper()
	then := time.Now().Add(-5 * time.Hour)
	err := filepath.WalkDir(s.user, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// state returns all that there is to know of the user's cache.
func (s shelf) state() string {
	s.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(s.user, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		fmt.Fprintln(&all, path, info.Mode(), info.Size(), info.ModTime(), st.Ino, st.Nlink, st.Ctim)
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%x\n", sha256.Sum256(b))
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all.String()
}

// TestCacheFiles has a command do to the files of a user's cache what can be
// done: the project has it, the user and other projects do not.
func TestCacheFiles(t *testing.T) {
	layered(t)
	t.Run("temporary", func(t *testing.T) { cacheFiles(t, newShelf(t, t.TempDir())) })
	cacheFiles(t, newShelf(t, shelves(t)))
}

func cacheFiles(t *testing.T, s shelf) {
	k := spaces(t)
	s.fill()
	before := s.state()
	a, b := s.project("a"), s.project("b")
	s.in(k, a, `set -e
		test "$(cat "$C/aa/changed")" = aa/changed
		echo changed > "$C/aa/changed"
		touch "$C/aa/touched"
		chmod 600 "$C/aa/touched"
		rm "$C/ab/removed"
		ln "$C/ab/linked" "$C/ab/link"; echo more >> "$C/ab/link"
		mv "$C/ab/moved" "$C/ab/there"
		mkdir "$C/ac"; echo new > "$C/ac/new"
		if echo x > "$U/aa/changed"; then exit 1; fi 2>/dev/null`)
	const all = `cd "$C"; cat aa/changed; ls -d */*; cat ac/new ab/linked`
	if got, want := s.in(k, a, all), "changed\naa/changed\naa/touched\nab/link\nab/linked\nab/there\nac/new\nnew\nab/linked\nmore\n"; got != want {
		t.Errorf("the next command of the project finds %q, want %q", got, want)
	}
	if got, want := s.in(k, b, `cd "$C"; cat aa/changed; ls -d */*`), "aa/changed\naa/changed\naa/touched\nab/linked\nab/moved\nab/removed\n"; got != want {
		t.Errorf("a command of another project finds %q, want %q", got, want)
	}
	if after := s.state(); after != before {
		t.Errorf("the user's cache was changed from\n%sto\n%s", before, after)
	}
	if out, err := exec.Command("rm", "-rf", a.Write[0]).CombinedOutput(); err != nil {
		t.Errorf("the project's caches can't be removed: %v: %s", err, out)
	}
}

// TestCacheWithheld has commands whose cache is their own, for one reason or
// another. It works.
func TestCacheWithheld(t *testing.T) {
	spaced, rules := spaces(t), kernel(t, Options{Without: []string{"namespaces"}})
	for _, c := range []struct {
		name string
		k    *Kernel
		make func(s shelf, p *Profile) error
	}{
		{"no namespaces", rules, func(shelf, *Profile) error { return nil }},
		{"no cache of the user", spaced, func(s shelf, _ *Profile) error { return os.RemoveAll(s.user) }},
		{"a file is hidden in it", spaced, func(s shelf, p *Profile) error {
			p.Hidden = []string{filepath.Join(s.user, "aa", "changed")}
			return nil
		}},
		{"it is hidden", spaced, func(s shelf, p *Profile) error {
			p.Hidden = []string{s.user}
			return nil
		}},
		{"the project's is part of it", spaced, func(s shelf, p *Profile) error {
			p.Below = s.base
			return nil
		}},
		{"the layers lead elsewhere", spaced, func(s shelf, p *Profile) error {
			elsewhere := filepath.Join(s.base, "elsewhere")
			if err := os.Mkdir(elsewhere, 0o777); err != nil {
				return err
			}
			return os.Symlink(elsewhere, p.Cache+".layers")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShelf(t, shelves(t))
			s.fill()
			p := s.project("a")
			if err := c.make(s, &p); err != nil {
				t.Fatal(err)
			}
			s.in(c.k, p, `mkdir -p "$C" && echo kept > "$C/own"`)
			if got := s.in(c.k, p, `cat "$C/own"; ls "$C"`); got != "kept\nown\n" {
				t.Errorf("it finds %q", got)
			}
			if left, _ := os.ReadDir(filepath.Join(s.base, "elsewhere")); len(left) > 0 {
				t.Errorf("elsewhere there is %v", left)
			}
		})
	}
}

// TestCacheSideBySide has more commands of a project run at the same time than
// can share the user's cache. None is in the way of another.
func TestCacheSideBySide(t *testing.T) {
	layered(t)
	s, k := newShelf(t, shelves(t)), spaces(t)
	s.fill()
	before, p := s.state(), s.project("a")
	const sharing, commands = 8, 10
	script := `cd "$C" && cat aa/changed 2>/dev/null || echo none; mkdir -p aa; echo $N > aa/changed; rm -f ab/removed; echo ready; until test -e "$OLDPWD/over"; do sleep 0.01; done; cat aa/changed`
	var all []*bufio.Reader
	for i := range commands {
		cmd := exec.Command("bash", "-c", "--", script)
		cmd.Dir, cmd.Env = p.Root, append(os.Environ(), "C="+p.Cache, fmt.Sprintf("N=%d", i))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		cmd.Stdout, cmd.Stderr = theirs, theirs
		err = begin(k, cmd, p)
		theirs.Close()
		if err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		r := bufio.NewReader(ours)
		want := "aa/changed"
		switch {
		case i == sharing:
			want = "none"
		case i > sharing: // these have the cache as it is, and share that
			want = fmt.Sprint(i - 1)
		}
		got, _ := r.ReadString('\n')
		if ready, err := r.ReadString('\n'); got != want+"\n" || ready != "ready\n" {
			t.Errorf("%d finds %q, want %q, then says %q: %v", i, got, want, ready, err)
		}
		all = append(all, r)
	}
	if err := os.WriteFile(filepath.Join(p.Root, "over"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, r := range all[:sharing] {
		if got := readLine(t, r); got != fmt.Sprint(i) {
			t.Errorf("%d finds what %s has written", i, got)
		}
	}
	if after := s.state(); after != before {
		t.Errorf("the user's cache was changed from\n%sto\n%s", before, after)
	}
}

var compiling = regexp.MustCompile(`(?m)/compile .* -p (\S+) `)

// TestCacheBuilds has the go command build in projects. It compiles no package
// again that the user has compiled.
func TestCacheBuilds(t *testing.T) {
	layered(t)
	s, k := newShelf(t, shelves(t)), spaces(t)
	home := filepath.Join(s.base, "home")
	environ := append(os.Environ(), "HOME="+home, "GOPATH="+home, "GOFLAGS=-trimpath", "GOENV=off", "CGO_ENABLED=0", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	build := func(cache, dir string, what ...string) *exec.Cmd {
		cmd := exec.Command("go", append([]string{"build", "-x"}, what...)...)
		cmd.Dir, cmd.Env = dir, append(slices.Clone(environ), "GOCACHE="+cache)
		return cmd
	}
	if out, err := build(s.user, s.base, "unicode/utf8").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.age()
	before := s.state()
	compiles := func(k *Kernel, p Profile, want string) {
		t.Helper()
		out, err := output(t, k, build(p.Cache, p.Root, "./..."), p)
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		var got []string
		for _, m := range compiling.FindAllStringSubmatch(out, -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("it compiles %q, want %q: %s", got, want, out)
		}
	}
	var projects []Profile
	for _, name := range []string{"a", "b", "c"} {
		p := s.project(name)
		for file, text := range map[string]string{"go.mod": "module ours\n", "p.go": "package p\n\nimport \"unicode/utf8\"\n\nfunc F(s string) int { return utf8.RuneCountInString(s) }\n"} {
			if err := os.WriteFile(filepath.Join(p.Root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		projects = append(projects, p)
	}
	compiles(k, projects[0], "ours")
	compiles(k, projects[0], "")
	compiles(k, projects[1], "ours") // what the first has compiled is the first's
	if after := s.state(); after != before {
		t.Errorf("the user's cache was changed from\n%sto\n%s", before, after)
	}
	rules := kernel(t, Options{Without: []string{"namespaces"}})
	alone := projects[2]
	compiles(rules, alone, "ours unicode/utf8")
	compiles(rules, alone, "")
}
