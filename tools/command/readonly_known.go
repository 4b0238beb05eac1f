package command

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/tools/launch"
)

// A known caches findings for read-only commands. They are valid until the disk changes.
type known struct {
	sync.Mutex
	guards   func(path string) bool // reports whether a path is guarded; nil guards none
	folders  map[string]folder
	searches map[string]string // reasons for a question about commits, by the search
	targets  map[string]bool   // targets of links with names of secrets; the links may be gone

	unchecked bool // the user was told that files made by commands are not checked
}

func newKnown() *known {
	return &known{folders: map[string]folder{}, searches: map[string]string{}, targets: map[string]bool{}}
}

// mostKnown limits the cached directories, and the cached searches.
const mostKnown = 100_000

// A folder is the relevant names in a directory.
type folder struct {
	stat    disk.Stat
	size    int      // number of names
	folders []string // directories
	own     []string // directories of git or gemline
	secrets []string // files that may hold secrets, and pipes, as reading a pipe takes data from others
	links   []string // links with names of secrets
	guarded []string // guarded files, without those of git or gemline
}

// folder returns the contents of a directory, at rel below a root. local says that the root
// is on a local disk, so that an unchanged directory need not be read again.
func (k *known) folder(path, rel string, dev uint64, local bool) (f folder) {
	if local {
		if info, err := os.Lstat(path); err == nil {
			if f, ok := k.folders[path]; ok && f.stat == disk.StatOf(info) {
				return f
			}
		}
	}
	d, err := os.OpenFile(path, os.O_RDONLY|disk.NoWait, 0) // the path may be a pipe by now
	if err != nil {
		return f
	}
	defer d.Close()
	now := time.Now()
	if info, err := d.Stat(); err == nil {
		f.stat = disk.StatOf(info)
	}
	entries, err := d.ReadDir(-1)
	f.size = len(entries)
	plain := !secret.Path(rel + "/x") // the names of its files decide, not their paths
	for _, e := range entries {
		name := e.Name()
		if k.guards != nil && !launch.Protected(name) && k.guards(strings.TrimPrefix(rel+"/"+name, "/")) {
			f.guarded = append(f.guarded, name)
		}
		switch {
		case e.IsDir() && launch.Protected(name):
			f.own = append(f.own, name)
		case e.IsDir():
			f.folders = append(f.folders, name)
		case e.Type()&fs.ModeNamedPipe != 0:
			f.secrets = append(f.secrets, name)
		case plain && !secret.Path(name), !plain && !secret.Path(rel+"/"+name):
		case e.Type()&fs.ModeSymlink != 0:
			f.links = append(f.links, name)
		default:
			f.secrets = append(f.secrets, name)
		}
	}
	if local && err == nil && f.stat.Dev == dev && f.stat.Stable(now, false) && len(k.folders) < mostKnown {
		k.folders[path] = f
	}
	return f
}

// concealing returns the paths to hide below roots: files that may hold secrets, and directories
// of git and gemline. If git is true, git's directories are returned as shown. It reports false
// if there are too many files to look at.
func (k *known) concealing(roots []string, git bool) (hidden, shown []string, ok bool) {
	ok = k.walk(roots, mostSeen, func(at string, f folder) {
		for _, name := range f.own {
			if path := filepath.Join(at, name); git && strings.EqualFold(name, ".git") {
				shown = append(shown, path)
			} else {
				hidden = append(hidden, path)
			}
		}
		hidden = append(hidden, k.concealed(f, at, roots)...)
	})
	hidden = k.lasting(hidden)
	return hidden, shown, ok && len(hidden) <= mostSecrets
}

// lasting adds to hidden the existing targets of links that are gone.
func (k *known) lasting(hidden []string) []string {
	k.Lock()
	defer k.Unlock()
	for path := range k.targets {
		if !slices.Contains(hidden, path) && exists(path) {
			hidden = append(hidden, path)
		}
	}
	return hidden
}

// concealed returns the paths in a directory that may hold secrets, and remembers the
// targets of links.
func (k *known) concealed(f folder, at string, roots []string) (hidden []string) {
	for _, name := range f.secrets {
		hidden = append(hidden, filepath.Join(at, name))
	}
	for _, name := range f.links {
		if path := disk.ResolveLinks(filepath.Join(at, name)); disk.InsideAny(roots, path) {
			hidden = append(hidden, path)
			if len(k.targets) < mostSecrets {
				k.targets[path] = true
			}
		} // other targets are hidden already, or belong to the system
	}
	return hidden
}

// walk visits directories recursively. It reports false if they hold more than left names.
func (k *known) walk(roots []string, left int, visit func(at string, f folder)) bool {
	k.Lock()
	defer k.Unlock()
	for _, root := range roots {
		local, dev := disk.OnLocalDisk(root), uint64(0)
		if info, err := os.Stat(root); err == nil {
			dev = disk.StatOf(info).Dev
		}
		todo := []string{""}
		for len(todo) > 0 {
			rel := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			at := root + rel
			f := k.folder(at, rel, dev, local)
			if left -= f.size; left < 0 {
				return false
			}
			for _, name := range f.folders {
				todo = append(todo, rel+"/"+name)
			}
			visit(at, f)
		}
	}
	return true
}

// search returns the result of a search in a repository, cached by the state of its
// directories.
func (k *known) search(kept []string, text string, search func() (why string, sure bool)) string {
	key := state(kept)
	if key == "" {
		why, _ := search()
		return why
	}
	key += text
	k.Lock()
	why, ok := k.searches[key]
	k.Unlock()
	if ok {
		return why
	}
	why, sure := search()
	k.Lock()
	defer k.Unlock()
	if sure && len(k.searches) < mostKnown && state(kept)+text == key {
		k.searches[key] = why
	}
	return why
}

// state returns a hash of a repository's state, hooks aside. It is empty if the repository
// has changed a moment ago, or can't be read.
func state(kept []string) string {
	now, sum := time.Now(), sha256.New()
	for _, dir := range kept {
		if !disk.OnLocalDisk(dir) {
			return ""
		}
		objects := filepath.Join(dir, "objects")
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			stat := disk.StatOf(info)
			if !stat.Stable(now, false) {
				return fs.ErrInvalid
			}
			fmt.Fprintln(sum, path, stat)
			if e.IsDir() && (filepath.Dir(path) == objects ||
				path == filepath.Join(dir, "modules") || path == filepath.Join(dir, "hooks")) {
				return fs.SkipDir // the names of objects suffice
			}
			return nil
		})
		if err != nil {
			return ""
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return string(sum.Sum(nil))
}
