package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
)

// A world is a directory with two roots, a temporary directory and what lies
// outside, as it should be: by path, what a file holds, what a link leads to,
// or that there is a directory. It knows nothing of the disk.
type world map[string]thing

type thing struct{ text, target string } // a link has a target, a directory neither

func (x thing) dir() bool { return x == thing{} }

// The directories of a world, and names in it. Some names are withheld.
var (
	worldRoots = []string{"/ws", "/ws2"}
	worldNames = []string{"a", "a", "a", "b", "b", "b", "c", "c", "d", "ab", "x.env", ".git", ".GIT"}
)

// grown returns a random world.
func grown(rng *rand.Rand) world {
	w := world{"/ws": {}, "/ws2": {}, "/ws/in": {}, "/out": {}, "/tmp": {}, "/out/a": {text: "canary"}, "/ws-evil": {}, "/ws-evil/a": {text: "canary"}}
	dirs := []string{"/ws", "/ws", "/ws", "/ws/in", "/ws2", "/out", "/tmp"}
	for range 6 + rng.IntN(20) {
		path := dirs[rng.IntN(len(dirs))] + "/" + worldNames[rng.IntN(len(worldNames))]
		if _, there := w[path]; there {
			continue
		}
		switch rng.IntN(5) {
		case 0, 1:
			w[path] = thing{}
			dirs = append(dirs, path)
		case 2:
			w[path] = thing{text: "text of " + path}
		default:
			w[path] = thing{target: someTarget(rng, slices.Sorted(maps.Keys(w)))}
		}
	}
	for path, x := range w {
		if x.text != "" && !strings.HasPrefix(path, "/ws/") && !strings.HasPrefix(path, "/ws2/") {
			w[path] = thing{text: "canary of " + path}
		}
	}
	return w
}

// someTarget returns where a link may lead: absolute if it begins with a slash.
func someTarget(rng *rand.Rand, there []string) string {
	name := func() string { return worldNames[rng.IntN(len(worldNames))] }
	switch rng.IntN(8) {
	case 0:
		return there[rng.IntN(len(there))]
	case 1:
		return there[rng.IntN(len(there))] + "/" + name()
	case 2:
		return "../" + name()
	case 3:
		return "../../out/a"
	case 4:
		return ".."
	case 5:
		return name() + "/../" + name()
	case 6:
		return "../.." + there[rng.IntN(len(there))]
	}
	return name()
}

// settled makes the world on the disk, below base.
func (w world) settled(t *testing.T, base string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(w)) { // parents first
		x, at := w[path], filepath.Join(base, path)
		var err error
		switch {
		case x.dir():
			err = os.Mkdir(at, 0o700)
		case x.target != "" && x.target[0] == '/':
			err = os.Symlink(filepath.Join(base, x.target), at)
		case x.target != "":
			err = os.Symlink(x.target, at)
		default:
			err = os.WriteFile(at, []byte(x.text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

var errEndless = errors.New("endless")

// above is what lies above the world.
const above = "/^"

// leads follows a path of the world from a directory of it.
func (w world) leads(at, path string, links *int) (string, error) {
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "" || at == above {
				at = above
			} else {
				at = at[:strings.LastIndexByte(at, '/')]
			}
			continue
		}
		x := w[at+"/"+part]
		if x.target == "" {
			at += "/" + part
			continue
		}
		if *links++; *links > 100 {
			return "", errEndless
		}
		from := at
		if x.target[0] == '/' {
			from = ""
		}
		to, err := w.leads(from, x.target, links)
		if err != nil {
			return "", err
		}
		at = to
	}
	return at, nil
}

// kept reports whether a path of the world may be touched, links aside.
func kept(path string) bool {
	return slices.ContainsFunc(worldRoots, func(root string) bool {
		rel, in := strings.CutPrefix(path+"/", root+"/")
		return in && !slices.ContainsFunc(strings.Split(rel, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
	})
}

// judged returns where a clean path of the world leads, and why it may not be
// touched.
func (w world) judged(path string) (string, error) {
	links := 0
	real, err := w.leads("", path, &links)
	if err != nil {
		if kept(path) {
			return "", errEndless
		}
		return "", errOutside
	}
	if real == "/tmp" || strings.HasPrefix(real, "/tmp/") {
		return real, nil
	}
	spelled := !slices.ContainsFunc(worldRoots, func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") }) || kept(path)
	if !spelled || !kept(real) {
		return "", errOutside
	}
	return real, nil
}

var errOutside = errors.New("outside")

// read returns the text at a real path, or why there is none.
func (w world) read(real string) (string, error) {
	x, there := w[real]
	switch {
	case !there:
		return "", fs.ErrNotExist
	case x.dir():
		return "", ErrDirectory
	}
	return x.text, nil
}

// write makes text the content of the file at a real path.
func (w world) write(real, text string) error {
	if _, err := w.read(real); errors.Is(err, ErrDirectory) {
		return err
	}
	for dir := real; dir != ""; {
		dir = dir[:strings.LastIndexByte(dir, '/')]
		if x, there := w[dir]; there && !x.dir() {
			return ErrNoDirectory
		}
	}
	for dir := real[:strings.LastIndexByte(real, '/')]; dir != ""; dir = dir[:strings.LastIndexByte(dir, '/')] {
		w[dir] = thing{}
	}
	w[real] = thing{text: text}
	return nil
}

// outcome names what an error means for the model.
func outcome(err error) string {
	outside := (*OutsideError)(nil)
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, errOutside), errors.As(err, &outside):
		return "outside"
	case errors.Is(err, errEndless), errors.Is(err, errLoop):
		return "endless"
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.Is(err, ErrDirectory):
		return "a directory"
	case errors.Is(err, ErrNoDirectory):
		return "no directory"
	}
	return err.Error()
}

// TestAgainstModel compares a Workspace with a model of it, in random worlds
// of directories, files and links.
func TestAgainstModel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are another matter there")
	}
	n, first := 200, uint64(0)
	if et.Soak() {
		n, first = 100_000, rand.Uint64()
		t.Logf("seeds from %d", first)
	}
	top := tree(t, nil)
	counts := map[string]int{}
	for i := range n {
		seed := first + uint64(i)
		base := filepath.Join(top, fmt.Sprint(i))
		if err := os.Mkdir(base, 0o700); err != nil {
			t.Fatal(err)
		}
		compare(t, seed, base, counts)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if err := os.RemoveAll(base); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d trees: %v", n, counts)
	for _, what := range []string{"none", "outside", "endless", "missing", "a directory"} {
		if counts["read: "+what] == 0 {
			t.Errorf("nothing was read with the outcome %q", what)
		}
	}
}

func compare(t *testing.T, seed uint64, base string, counts map[string]int) {
	rng := rand.New(rand.NewPCG(seed, 9))
	m := grown(rng)
	m.settled(t, base)
	w, err := New(Config{Roots: []string{filepath.Join(base, "ws"), filepath.Join(base, "ws2")}, Temp: filepath.Join(base, "tmp")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for step := range 40 {
		name := someName(rng)
		if name[0] == '/' {
			name = base + name
		} else if rng.IntN(4) == 0 {
			name = filepath.Join(base, "ws") + "/" + name
		}
		at := name
		if at[0] != '/' {
			at = filepath.Join(base, "ws", name)
		}
		at = filepath.Clean(at)
		path, below := strings.CutPrefix(at, base)
		if !below {
			path = above
		}
		real, want := m.judged(path)
		got, err := w.Resolve(name)
		if outcome(err) != outcome(want) || err == nil && got != at {
			t.Errorf("%s resolves to %s, %v; want %v\n%v", name, got, err, want, m)
			return
		}
		if step%8 == 7 {
			text := fmt.Sprint("written ", step)
			if want == nil {
				want = m.write(real, text)
			}
			err := w.Write(at, text, Format{})
			counts["written: "+outcome(want)]++
			if outcome(err) != outcome(want) {
				t.Errorf("%s written: %v; want %v\n%v", name, err, want, m)
				return
			}
			continue
		}
		text := ""
		if want == nil {
			text, want = m.read(real)
		}
		b, _, err := w.ReadBytes(at, MaxFile)
		counts["read: "+outcome(want)]++
		if outcome(err) != outcome(want) || string(b) != text {
			t.Errorf("%s holds %q, %v; want %q, %v\n%v", name, b, err, text, want, m)
			return
		}
		info, err := w.Stat(at)
		if serious := want; !errors.Is(want, ErrDirectory) && outcome(err) != outcome(serious) || errors.Is(want, ErrDirectory) && (err != nil || !info.IsDir()) {
			t.Errorf("%s is %v, %v; want %v\n%v", name, info, err, want, m)
			return
		}
	}
	if want, got := m.listed(), listing(t, base); want != got {
		t.Errorf("the disk is\n%s\nwant\n%s", got, want)
	}
	found, err := w.Search(t.Context(), filepath.Join(base, "ws"), Query{Pattern: regexp.MustCompile(".")})
	if err != nil {
		t.Error(err)
	}
	var lines, want []string
	for _, f := range found {
		lines = append(lines, strings.TrimPrefix(f.Path, base)+" "+f.Text)
	}
	for path, x := range m {
		if strings.HasPrefix(path, "/ws/") && kept(path) && x.text != "" {
			want = append(want, path+" "+x.text)
		}
	}
	slices.Sort(want)
	slices.Sort(lines)
	if !slices.Equal(lines, want) {
		t.Errorf("found %q; want %q", lines, want)
	}
}

// someName returns what a model may ask for: relative to the first root, or
// absolute in the world.
func someName(rng *rand.Rand) string {
	name := [...]string{"", "", "", "", "", "in/", "in/", "/ws/", "/ws2/", "/ws2/", "/out/", "/tmp/", "../", "../out/", "/ws-evil/"}[rng.IntN(15)]
	for range 1 + rng.IntN(4) {
		part := worldNames[rng.IntN(len(worldNames))]
		if rng.IntN(8) == 0 {
			part = [...]string{"..", ".", "", "in"}[rng.IntN(4)]
		}
		name += part + "/"
	}
	if name = strings.TrimSuffix(name, "/"); name == "" {
		name = "."
	}
	return name
}

// listed tells all of the world, and listing all that is below base.
func (w world) listed() string {
	var all []string
	for path, x := range w {
		all = append(all, fmt.Sprintf("%s %q %v", path, x.text, x.target != ""))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func listing(t *testing.T, base string) string {
	var all []string
	err := filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == base {
			return err
		}
		text := ""
		if e.Type().IsRegular() {
			text = content(t, path)
		}
		all = append(all, fmt.Sprintf("%s %q %v", strings.TrimPrefix(path, base), text, e.Type()&fs.ModeSymlink != 0))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// FuzzNames looks for a name that leads out, or to what is withheld.
func FuzzNames(f *testing.F) {
	base := tree(f, map[string]string{"ws/a/b": "inside", "ws/.git/config": "canary", "ws/sub/.git/x": "canary", "ws/node_modules/m": "canary", "out/secret": "canary", "ws2/c": "inside"})
	ws := filepath.Join(base, "ws")
	for name, to := range map[string]string{"out": "../out", "up": "..", "abs": filepath.Join(base, "out"), "two": "../ws2", "self": ".", "loop": "loop", "a/back": "../../ws/a", "git": ".git"} {
		link(f, to, filepath.Join(ws, name))
	}
	w := open(f, Config{Roots: []string{ws, filepath.Join(base, "ws2")}})
	for _, name := range []string{"a/b", "../out/secret", "out/secret", "self/a/back/b", "up/ws2/c", "..%2fout/secret", "@a/b", "a\x00/../b", ".\x00./out/secret",
		"~/x", "//a//b/", "git/config", ".GIT./config", "\uff0egit/config", "loop/x", "a/b/..", "abs/secret", `..\out\secret`, "a/../../ws/a/b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		path, err := w.Resolve(name)
		if err != nil {
			return
		}
		b, _, err := w.ReadBytes(path, MaxFile)
		if err == nil && string(b) != "inside" {
			t.Errorf("%q holds %q", name, b)
		}
		p, err := w.Locate(path)
		if err != nil || !kept(filepath.ToSlash(strings.TrimPrefix(p.Path(), base))) {
			t.Errorf("%q leads to %q, %v", name, p.Path(), err)
		}
		entries, _ := w.ReadDir(path)
		for _, e := range entries {
			if e.Name() == "secret" || e.Name() == ".git" || e.Name() == "config" {
				t.Errorf("%q holds %v", name, e)
			}
		}
	})
}
