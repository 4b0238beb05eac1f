package checkpoint

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/secret"
)

// products are names, as [path.Match] takes them, of ignored files and directories that
// programs make again: builds, downloaded packages, caches and logs.
var products = strings.Fields(`
	node_modules bower_components .pnpm-store .yarn .venv venv .tox .nox *.egg-info
	dist build out target bin obj .next .nuxt .output .svelte-kit .astro .angular .gradle
	.cache *.cache *-cache *_cache .turbo .vite .eslintcache *.tsbuildinfo __pycache__
	coverage .coverage .coverage.* .nyc_output htmlcov coverage.* cover.out
	*.log *.pid *.py[co] *.o *.obj *.a *.so *.class *.test .DS_Store`)

// isProduct reports whether a file or directory of this name is a build product or a cache.
func isProduct(name string) bool {
	return slices.ContainsFunc(products, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Uncovered returns the files that undo can't bring back if a command changes or deletes them:
// ignored and large files, and of ignored directories the topmost. It leaves out build products,
// files that may hold secrets, and files that calls of the session have made and nobody has
// changed since. If there are more than most, a directory with many stands for its files. It
// reports false if there are still more, or if the files are not known.
func (k *Keeper) Uncovered(most int) (paths []string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.history.scanned {
		done, err := k.history.use(context.Background())
		if err != nil {
			return nil, false
		}
		defer done()
		if !k.history.scanned && k.history.recordExternal(context.Background(), true, nil) != nil {
			return nil, false
		}
	}
	paths = k.history.uncovered(most)
	return paths, k.history.partial == nil && len(paths) <= most
}

func (h *history) uncovered(most int) (paths []string) {
	byDirectory, held := map[string][]string{}, 0
	for _, n := range h.top.uncovered(nil) {
		at := n.path()
		if dir := filepath.Dir(at); !n.own && !secret.Path(h.cfg.Workspace.Rel(at)) && !n.compiled(at) {
			byDirectory[dir] = append(byDirectory[dir], at)
			held++
		}
	}
	for dir, list := range byDirectory {
		if held > most && len(list) > mostInDirectory && !slices.Contains(h.cfg.Workspace.Roots(), dir) {
			list = []string{dir}
		}
		paths = append(paths, list...)
	}
	slices.Sort(paths)
	return paths
}

// uncovered adds to list the nodes below n without a stored content, except products. For an
// ignored directory, it adds only the directory.
func (n *node) uncovered(list []*node) []*node {
	for _, k := range n.kids {
		switch dir := k.look.Mode.IsDir() || len(k.kids) > 0; { // a directory above a root is not scanned, so its mode is unknown
		case k.tracking == ignored && isProduct(k.name):
		case dir && k.tracking != ignored:
			list = k.uncovered(list)
		case dir, k.look.Mode.IsRegular() && k.exists() && k.sum == "":
			list = append(list, k)
		}
	}
	return list
}

// compiled reports whether an ignored file is a program for this machine.
func (n *node) compiled(at string) bool {
	if n.tracking != ignored || !n.look.Mode.IsRegular() || n.look.Mode&0o111 == 0 {
		return false
	}
	f, err := disk.Open(at)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	f.Read(head)
	return string(head) == "\x7fELF"
}

// mostInDirectory is how many files of a directory are listed singly if there are too many
// files.
const mostInDirectory = 100
