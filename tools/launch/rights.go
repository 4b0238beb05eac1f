package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/tools/sandbox"
)

// mostRights limits the paths that a call may request of each kind, as users do not read
// long questions.
const mostRights = 20

// ExtraRights returns the rights in want that a confined command in dir does not have
// anyway, with real paths. Without a sandbox, there are no extra rights.
func (l *Launcher) ExtraRights(want engine.Rights, dir string) (r engine.Rights, err error) {
	if l.Sandbox == nil {
		return r, nil
	}
	state, p := l.Sandbox.State(), l.Profile()
	r.Network = want.Network && state.Network && !p.Network
	if !state.Files {
		return r, nil
	}
	r.Protected = want.Protected && !p.Unprotected
	if r.Write, err = absolutePaths(want.Write, dir); err != nil {
		return r, err
	}
	for i, path := range r.Write {
		for _, closed := range resolved(p.ReadOnly) {
			if disk.Inside(closed, path) {
				r.Write[i] = closed // the whole directory is opened
			}
		}
	}
	reads, err := absolutePaths(want.Read, dir)
	hidden := resolved(p.Hidden)
	for _, path := range append(reads, r.Write...) {
		if disk.Within(hidden, path) || slices.Contains(reads, path) && unseen(path, p) {
			r.Read = append(r.Read, path)
		}
	}
	slices.Sort(r.Read)
	r.Read = slices.Compact(r.Read)
	var more []string
	for _, path := range r.Write {
		switch inside := disk.InsideAny(append([]string{p.Root}, p.Write...), path); {
		case writable(path, p):
		case inside && !disk.InsideAny(p.ReadOnly, path):
			r.Protected = true
		default:
			more = append(more, path)
		}
	}
	r.Write = more
	return described(r), err
}

// writable reports whether a command confined by p can write at path.
func writable(path string, p sandbox.Profile) bool {
	if !disk.InsideAny(append([]string{p.Root}, p.Write...), path) {
		return false
	}
	if p.Unprotected {
		return true
	}
	return !disk.InsideAny(p.ReadOnly, path) &&
		!slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), Protected)
}

// Unwritable returns the paths that a confined command can't write to, each once: the
// read-only directory or file that a path is in, and at most as many as a call can ask for.
func (l *Launcher) Unwritable(paths []string) (list []string) {
	p := l.Profile()
	closed := resolved(p.ReadOnly)
	for _, path := range paths {
		path = disk.ResolveLinks(path)
		if i := slices.IndexFunc(closed, func(dir string) bool { return disk.Inside(dir, path) }); i >= 0 {
			path = closed[i]
		} else if writable(path, p) {
			continue
		}
		if !slices.Contains(list, path) && len(list) < mostRights {
			list = append(list, path)
		}
	}
	return list
}

// Protected reports whether the name is that of a directory of git or gemline.
func Protected(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, ".gemini")
}

// resolved returns paths with their links resolved.
func resolved(paths []string) []string { return lists.Map(paths, disk.ResolveLinks) }

// absolutePaths returns absolute paths without links, so that a question shows the paths that are
// granted.
func absolutePaths(paths []string, dir string) ([]string, error) {
	var list []string
	if len(paths) > mostRights {
		return nil, fmt.Errorf("a call can ask for %d paths at most", mostRights)
	}
	for _, p := range paths {
		if p == "" || strings.IndexByte(p, 0) >= 0 {
			return nil, errors.New("a path in additional_permissions can't be empty or hold a NUL byte")
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		if p = disk.ResolveLinks(filepath.Clean(p)); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, nil
}

// SandboxWith returns the profile of a command with extra rights.
func (l *Launcher) SandboxWith(r engine.Rights) sandbox.Profile {
	p := l.Profile()
	p.Network, p.Unprotected = p.Network || r.Network, p.Unprotected || r.Protected
	own := append([]string{p.Root}, p.Write...)
	p.Write = append(slices.Clone(p.Write), slices.DeleteFunc(slices.Clone(r.Write), func(path string) bool {
		return disk.InsideAny(own, path) && filepath.Base(path) != ".git" // a mount there could not be removed or replaced
	})...)
	for _, list := range []*[]string{&p.ReadOnly, &p.Kept} {
		*list = slices.DeleteFunc(slices.Clone(*list),
			func(path string) bool { return len(r.Write) > 0 && slices.Contains(r.Write, disk.ResolveLinks(path)) })
	}
	for _, path := range r.Read {
		if !disk.InsideAny(p.Hidden, path) && !disk.InsideAny(r.Write, path) {
			p.ReadOnly = append(p.ReadOnly, path) // it is visible, but read-only
		}
	}
	p.Hidden = without(p.Hidden, r.Read)
	return p
}

// without returns the hidden paths without the granted ones. A directory that holds a
// granted path is replaced by its other entries.
func without(paths, granted []string) (left []string) {
	if len(granted) == 0 { // the usual case; following links takes time
		return paths
	}
	for _, path := range paths {
		left = append(left, besides(path, granted)...)
	}
	return left
}

// besides is without for one path. A directory of very many files stays hidden.
func besides(path string, granted []string) (left []string) {
	const most = 1000
	real := disk.ResolveLinks(path)
	switch {
	case slices.Contains(granted, real):
		return nil
	case !slices.ContainsFunc(granted, func(g string) bool { return disk.InsideAny([]string{real}, g) }):
		return []string{path}
	}
	entries, err := os.ReadDir(real)
	if err != nil || len(entries) > most {
		return []string{path}
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 { // a link's target is hidden separately, or not hidden
			left = append(left, besides(filepath.Join(real, e.Name()), granted)...)
		}
	}
	return left
}

// Limits describes what commands can do without extra rights, as a predicate of "commands".
func (l *Launcher) Limits() string {
	state, p := l.State(), l.Profile()
	dirs := append([]string{"this folder"}, l.Roots()[1:]...)
	where := strings.Join(dirs, " and ")
	if n := len(dirs); n > 3 {
		where = fmt.Sprintf("%s and %d others", dirs[0], n-1)
	}
	files := ""
	if state.Files {
		files = "write only in " + where
	}
	switch {
	case state.Network && !p.Network && files == "":
		return "have no network, and can change any file"
	case files == "":
		return ""
	case state.Network && !p.Network:
		return files + ", without network"
	}
	return files + ", and have the network"
}
