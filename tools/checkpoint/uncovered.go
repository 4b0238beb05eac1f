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
// programs make again: builds, what they are built from, caches and logs.
var products = strings.Fields(`
	node_modules bower_components .pnpm-store .yarn .venv venv .tox .nox *.egg-info
	dist build out target bin obj .next .nuxt .output .svelte-kit .astro .angular .gradle
	.cache *.cache *-cache *_cache .turbo .vite .eslintcache *.tsbuildinfo __pycache__
	coverage .coverage .coverage.* .nyc_output htmlcov coverage.* cover.out
	*.log *.pid *.py[co] *.o *.obj *.a *.so *.class *.test .DS_Store`)

// isProduct reports whether programs make again what has this name.
func isProduct(name string) bool {
	return slices.ContainsFunc(products, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Uncovered returns what is there and does not come back if a command changes or deletes
// it: files that are ignored or too large, and of ignored directories the topmost. What
// programs make again is none of it, nor what may hold secrets, of which no copy is made,
// nor what calls of the session have made and nobody has changed since. It reports false if
// it is not known, or if there is more than most, which for those in directories that hold
// many is the directory.
func (k *Keeper) Uncovered(most int) (paths []string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.history.scanned {
		done, err := k.history.use(context.Background())
		if err != nil {
			return nil, false
		}
		defer done()
		if !k.history.scanned && k.history.found(context.Background(), true, nil) != nil {
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

// uncovered adds to list the nodes below n of which nothing is kept, and that are no
// products. Ignored directories are there as a whole.
func (n *node) uncovered(list []*node) []*node {
	for _, k := range n.kids {
		switch dir := k.look.Mode.IsDir() || len(k.kids) > 0; { // of those above a root nothing is known
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

// mostInDirectory is how many files of a directory are told apart where there are too many.
const mostInDirectory = 100
