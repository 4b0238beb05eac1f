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

// own reports whether path is in the directories of gemline's configuration.
func (g Guarded) own(path string) bool {
	for _, dir := range g.Free {
		for _, dir := range []string{dir, disk.Follow(dir)} {
			if rel, ok := exactly(dir, path); ok {
				return g.kept(elements(rel))
			}
		}
	}
	if slices.ContainsFunc(g.Own, func(dir string) bool { return among(dir, path) }) {
		return true
	}
	// There may be another name for them, by a mount.
	own, free := files(g.Own), files(g.Free)
	for _, at := range upward(path) {
		info, err := os.Stat(at)
		if err != nil {
			continue
		}
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if slices.ContainsFunc(free, same) {
			rel, _ := exactly(at, path)
			return g.kept(elements(rel))
		}
		if slices.ContainsFunc(own, same) {
			return true
		}
	}
	return false
}

// kept reports whether the elements of a path below one of Free lead to what
// gemline goes by.
func (g Guarded) kept(below []string) bool {
	for _, name := range below[:min(2, len(below))] {
		name = disk.FoldName(name)
		if slices.ContainsFunc(g.Kept, func(kept string) bool { return disk.SameFoldedName(name, kept) }) {
			return true
		}
	}
	return false
}

// among reports whether path is dir or below it, by any name of dir's.
func among(dir, path string) bool {
	_, ok := within(dir, path)
	_, real := within(disk.Follow(dir), path)
	return ok || real
}

// obscure reports whether a command may change gemline's own configuration in a
// way that the paths it writes to do not tell: one of its words is filled in by
// the shell, or what it names is taken away.
func (g Guarded) obscure(in engine.Intent) bool {
	if slices.ContainsFunc(in.Plan.Writes, g.unsettled) {
		return true
	}
	if in.Plan.Confined { // by what can't be talked out of it
		return false
	}
	changes := len(in.Plan.Writes) > 0
	for _, c := range in.Plan.Commands {
		changes = changes || c.Facts.Writes
	}
	return changes && slices.ContainsFunc(in.Plan.Commands, func(c engine.Command) bool { return g.touches(c, in.Plan.Dir) })
}

// touches reports whether c, which runs in dir, may be about gemline's own
// configuration.
func (g Guarded) touches(c engine.Command, dir string) bool {
	for i, w := range c.Argv {
		at := w.Text
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		switch {
		case !w.Known && g.unsettled(w.Text), w.Known && i > 0 && c.Facts.Takes && (g.own(at) || g.own(disk.Follow(at))):
			return true
		}
	}
	return slices.ContainsFunc(c.Env, g.unsettled)
}

// unsettled reports whether a word, as it stands in a command, may lead to
// gemline's own configuration by way of something that a shell fills in.
func (g Guarded) unsettled(word string) bool {
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
		if is, err := path.Match(strings.ToLower(part), ".gemini"); !(pattern && (is || err != nil)) && !disk.SameName(part, ".gemini") {
			continue
		}
		rest := parts[i+1:]
		if len(rest) < 2 || rest[0] != "tmp" || strings.ContainsAny(strings.Join(rest, ""), filled) || g.kept(rest[1:]) {
			return true
		}
	}
	return false
}
