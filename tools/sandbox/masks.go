package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
)

// masks are the existing paths of a Profile, for programs that mount over paths. Shorter
// paths come first, so that a nested path is mounted over its parent.
type masks struct {
	write    []string
	readOnly []string
	hidden   []hiddenPath
}

// A hiddenPath is a file or a directory that is hidden.
type hiddenPath struct {
	path string
	dir  bool
}

// placeholders are empty directories created as mount points. They are safe for concurrent use.
type placeholders struct {
	mu   sync.Mutex
	made []string
}

// Close removes the placeholders that are still empty.
func (h *placeholders) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range slices.Backward(h.made) {
		os.Remove(path) // fails if the directory is not empty
	}
	h.made = nil
	return nil
}

// prepare finds the existing paths of p. It creates a missing protected path as an empty
// directory, and records it.
func (h *placeholders) prepare(p Profile) (masks, error) {
	var m masks
	if !filepath.IsAbs(p.Root) || filepath.Dir(p.Root) == p.Root {
		return m, &Error{Message: fmt.Sprintf("the workspace is %.200q: commands could write to too much", p.Root), Advice: "start in a directory below it"}
	}
	for _, path := range append([]string{p.Root}, p.Write...) {
		if _, err := os.Stat(path); err == nil {
			m.write = append(m.write, path)
		}
	}
	m.readOnly = existingPaths(p.ReadOnly)
	if p.RunReadOnly {
		m.write, m.readOnly = nil, append(m.readOnly, m.write...)
	} else if !p.Unprotected {
		readOnly, anchored := protected(p.Root)
		m.write = append(m.write, append(anchored, existingPaths(p.Anchored)...)...)
		for _, path := range readOnly {
			if err := h.hold(path); err != nil {
				return m, err
			}
			m.readOnly = append(m.readOnly, path)
		}
	}
	for _, path := range p.Hidden {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // not there
		}
		if info, err := os.Stat(real); err == nil {
			m.hidden = append(m.hidden, hiddenPath{real, info.IsDir()})
		}
	}
	for _, path := range p.Masked {
		if info, err := os.Lstat(path); err == nil &&
			info.Mode().IsRegular() { // a link can't be a mount point here
			m.hidden = append(m.hidden, hiddenPath{path: path})
		}
	}
	inOrder := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }
	for _, list := range []*[]string{&m.write, &m.readOnly} {
		slices.SortFunc(*list, inOrder)
		*list = slices.Compact(*list)
	}
	m.write = slices.DeleteFunc(m.write, func(path string) bool { return slices.Contains(m.readOnly, path) })
	slices.SortFunc(m.hidden, func(a, b hiddenPath) int { return inOrder(a.path, b.path) })
	m.hidden = slices.Compact(m.hidden)
	return m, nil
}

// hold creates the directory path, if nothing exists there.
func (h *placeholders) hold(path string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	h.made = append(h.made, path)
	return nil
}

func existingPaths(paths []string) (out []string) {
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// protected returns the paths below root that are read-only: files that make git run
// programs, and gemline's configuration. A repository's objects, references and index stay
// writable. An anchored directory is writable, but can't be removed or renamed, as it is
// mounted on itself.
func protected(root string) (readOnly, anchored []string) {
	readOnly = []string{filepath.Join(root, ".gemini")}
	git := filepath.Join(root, ".git")
	if info, err := os.Lstat(git); err != nil || !info.IsDir() {
		readOnly = append(readOnly, git) // a .git file with the path of the repository, or nothing
	} else {
		for _, name := range []string{"config", "hooks", "info", "modules"} {
			readOnly = append(readOnly, filepath.Join(git, name))
		}
		anchored = []string{git}
	}
	for _, path := range slices.Clone(readOnly) {
		for _, place := range disk.LinkTargets(path) {
			if info, err := os.Lstat(place); err == nil && info.Mode()&os.ModeSymlink == 0 && disk.Inside(root, place) {
				readOnly = append(readOnly, place)
			}
		}
	}
	return readOnly, anchored
}

// systems are the directories below / whose contents are no secret.
var systems = []string{"bin", "boot", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix",
	"opt", "proc", "run", "sbin", "snap", "sys", "tmp", "usr", "var"}

// veiled returns the directories below / that do not belong to the system, without root.
func veiled(root string) (list []string, err error) {
	entries, err := os.ReadDir("/")
	for _, e := range entries {
		if path := "/" + e.Name(); e.IsDir() && path != root && !slices.Contains(systems, e.Name()) {
			list = append(list, path)
		}
	}
	return list, err
}
