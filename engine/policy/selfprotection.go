package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
)

// isOwn reports whether path is in a directory of gemline's configuration, or in such a directory
// below the roots: a later session may begin there.
func (g GuardedFiles) isOwn(path string) bool {
	for _, dir := range g.Except {
		for _, dir := range []string{dir, disk.ResolveLinks(dir)} {
			if rel, ok := insideExactly(dir, path); ok {
				return g.isOwnState(elements(rel))
			}
		}
	}
	if g.leadsToOwn(path) || slices.ContainsFunc(g.Own, func(dir string) bool { return insideFollowed(dir, path) }) {
		return true
	}
	for _, root := range g.roots() {
		for _, root := range []string{root, disk.ResolveLinks(root)} {
			below, ok := inside(root, path)
			if ok && slices.ContainsFunc(elements(below), func(name string) bool { return disk.SameName(name, ".gemini") }) {
				return true
			}
		}
	}
	// A mount may give these directories another name.
	own, free := files(g.Own), files(g.Except)
	for at := range disk.Upward(path) {
		info, err := os.Stat(at)
		if err != nil {
			continue
		}
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if slices.ContainsFunc(free, same) {
			rel, _ := insideExactly(at, path)
			return g.isOwnState(elements(rel))
		}
		if slices.ContainsFunc(own, same) {
			return true
		}
	}
	return false
}

// leadsToOwn reports whether path is a link on the way to one of Own.
func (g GuardedFiles) leadsToOwn(path string) bool {
	path = disk.ResolveParent(path)
	return slices.ContainsFunc(g.Own, func(dir string) bool {
		way := disk.Way(dir)
		return slices.Contains(way[:len(way)-1], path)
	})
}

// isOwnState reports whether the elements of a path below one of Except lead to a file of State.
func (g GuardedFiles) isOwnState(below []string) bool {
	for i, name := range below[:min(2, len(below))] {
		name = disk.FoldName(name)
		if slices.ContainsFunc(g.State, func(kept string) bool {
			kept, ofProject := strings.CutPrefix(kept, "*/")
			return ofProject == (i == 1) && disk.SameFoldedName(name, kept)
		}) {
			return true
		}
	}
	return false
}

// insideFollowed reports whether path is dir or below it, by any name of dir's.
func insideFollowed(dir, path string) bool {
	_, ok := inside(dir, path)
	_, real := inside(disk.ResolveLinks(dir), path)
	return ok || real
}

// hidesTarget reports whether a command may change gemline's own configuration although its write
// paths do not show that: the shell expands a word, or the command moves or deletes a parent
// directory.
func (g GuardedFiles) hidesTarget(in engine.Intent) bool {
	if slices.ContainsFunc(in.Plan.Writes, g.mayBecomeOwn) {
		return true
	}
	if in.Plan.Confined { // confinement protects the configuration; only a named link needs a question
		return slices.ContainsFunc(in.Plan.Commands, func(c engine.Command) bool {
			return c.Facts.ModifiesOperands && slices.ContainsFunc(c.Argv, func(w engine.Word) bool {
				return w.Known && g.leadsToOwn(disk.Absolute(w.Text, in.Plan.Dir, ""))
			})
		})
	}
	changes := len(in.Plan.Writes) > 0
	for _, c := range in.Plan.Commands {
		changes = changes || c.Facts.Writes
	}
	return changes && slices.ContainsFunc(in.Plan.Commands,
		func(c engine.Command) bool { return g.touchesOwn(c, in.Plan.Dir) })
}

// touchesOwn reports whether c, which runs in dir, may affect gemline's own configuration.
func (g GuardedFiles) touchesOwn(c engine.Command, dir string) bool {
	for i, w := range c.Argv {
		at := w.Text
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		switch {
		case !w.Known && g.mayBecomeOwn(w.Text), w.Known && i > 0 && c.Facts.ModifiesOperands && (g.isOwn(at) || g.isOwn(disk.ResolveLinks(at))):
			return true
		}
	}
	return slices.ContainsFunc(c.Env, g.mayBecomeOwn)
}

// mayBecomeOwn reports whether a word, as written in a command, may expand to a path of gemline's
// own configuration.
func (g GuardedFiles) mayBecomeOwn(word string) bool {
	const filled = "~$`*?["
	if !strings.ContainsAny(word, filled) {
		return false
	}
	word = strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(word)
	_, value, assigned := strings.Cut(word, "=")
	if assigned {
		word = value
	}
	parts := elements(path.Clean(filepath.ToSlash(word)))
	for i, part := range parts {
		part = strings.TrimRight(part, "`)}")
		pattern := strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[")
		if is, err := path.Match(strings.ToLower(part), ".gemini"); !(pattern &&
			(is || err != nil)) && !disk.SameName(part, ".gemini") {
			continue
		}
		rest := parts[i+1:]
		if len(rest) < 2 || rest[0] != "tmp" ||
			strings.ContainsAny(strings.Join(rest, ""), filled) || g.isOwnState(rest[1:]) {
			return true
		}
	}
	return false
}
