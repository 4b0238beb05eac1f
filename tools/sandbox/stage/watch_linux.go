package stage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gemline/tools/gitconfig"
)

// Limits of the stored state of watched files.
const (
	maxStates = 1000     // entries of a directory, at any depth, whose contents are stored
	maxSaved  = 64 << 10 // bytes of a file to restore after a change
)

// watched is a path that must stay unchanged, with its former state.
type watched struct {
	top   *top
	at    string
	was   map[string]fileState // by path; empty if nothing existed
	trees bool                 // it is a repository's directory worktrees, see entries
	way   bool                 // in Kept: its parent directories must not become links, either
}

// A fileState is the former state of a file.
type fileState struct {
	id      id
	mode    uint32
	size    int64
	changed unix.Timespec // the change time, which programs can't set
	saved   []byte        // the contents; nil if they were not stored
	closed  bool          // a directory whose entries are not checked
}

// same reports whether m and n are the same unchanged file. For a directory, its entries
// have separate states.
func (m fileState) same(n fileState) bool {
	if m.id != n.id || m.mode != n.mode {
		return false
	}
	return m.mode&unix.S_IFMT == unix.S_IFDIR || m.size == n.size && m.changed == n.changed
}

func (g *guard) watch(t *top, at string) {
	if slices.ContainsFunc(g.watched, func(w watched) bool { return w.top == t && w.at == at && !w.trees }) {
		return
	}
	was := map[string]fileState{}
	t.remember(at, was, nil)
	g.watched = append(g.watched, watched{top: t, at: at, was: was})
}

// entries watches the names in a repository's directory worktrees, but not their contents.
func (g *guard) entries(t *top, at string) {
	w := watched{top: t, at: at, trees: true}
	w.was = w.is()
	g.watched = append(g.watched, w)
}

// is returns the current state of the path.
func (w watched) is() map[string]fileState {
	is := map[string]fileState{}
	w.top.remember(w.at, is, w.was)
	for up := path.Dir(w.at); w.way && up != "."; up = path.Dir(up) {
		var st unix.Stat_t
		if unix.Fstatat(w.top.fd, up, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			w.top.remember(up, is, w.was)
		}
	}
	if w.trees {
		maps.DeleteFunc(is, func(place string, _ fileState) bool { return place != w.at && path.Dir(place) != w.at })
	}
	return is
}

// harmless reports whether a new file at a path was made by git worktree, is a hook of
// git-lfs, or belongs to the first repositories of modules.
func (w watched) harmless(at string) bool {
	if path.Base(w.at) == "modules" && len(w.was) == 0 {
		return modules(w.top, w.at, 1) == ""
	}
	if path.Base(w.at) == "hooks" && path.Dir(at) == w.at {
		dir, err := open(w.top.fd, w.at, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return false
		}
		defer unix.Close(dir)
		return gitconfig.IsLFSHook(path.Base(at), string(contents(dir, path.Base(at)))) && sole(dir, path.Base(at))
	}
	return w.trees && (at == w.at || linkedTree(w.top, at) == "")
}

// remember records the state of the files at a path and below, with their contents if the
// former state is not known.
func (t *top) remember(at string, marks, was map[string]fileState) {
	dir, err := open(t.fd, path.Dir(at), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if unix.Fstatat(dir, path.Base(at), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	save := was == nil && len(marks) < maxStates
	m := fileState{id: idOf(&st), mode: st.Mode, size: st.Size, changed: st.Ctim, closed: was[at].closed || was == nil && unread(dir, path.Base(at))}
	if save && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size <= maxSaved {
		m.saved = contents(dir, path.Base(at))
	}
	if save && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		buf := make([]byte, unix.PathMax)
		if n, err := unix.Readlinkat(dir, path.Base(at), buf); err == nil {
			m.saved = buf[:n:n]
		}
	}
	marks[at] = m
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || m.closed {
		return
	}
	fd, err := open(dir, path.Base(at), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	entries(fd, func(name string, _ byte) error {
		switch parent := strings.ToLower(path.Base(at)); {
		case parent == ".gemini" && name == "worktrees", parent == "info" && name == "refs": // it is only for HTTP
		default:
			t.remember(path.Join(at, name), marks, was)
		}
		return nil
	})
}

// unread reports whether a directory entry is a part of a repository that makes git run no
// program.
func unread(dir int, name string) bool {
	return (name == "objects" || name == "refs" || name == "logs") && there(dir, "HEAD") && there(dir, "objects")
}

func contents(dir int, name string) []byte { return contentsUpTo(dir, name, maxSaved) }

// contentsUpTo returns what a file holds, nil if that is more than some bytes.
func contentsUpTo(dir int, name string, most int) []byte {
	fd, err := open(dir, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil || len(b) > most {
		return nil
	}
	return b
}

// enforce reverts forbidden changes, and describes them. No file is lost: a forbidden file
// is renamed in its directory. With deep, it also searches the workspace for new
// repositories.
func (g *guard) enforce(deep bool) (problems []string) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.watched {
		if g.left(w) {
			continue
		}
		problems = append(problems, w.enforce()...)
		if is, ok := w.was[w.at]; ok && special(path.Base(w.at)) { // another file may have the path again
			g.known[is.id] = path.Join(w.top.path, w.at)
		}
	}
	for _, r := range g.rebases {
		problems = append(problems, r.enforce()...)
	}
	for _, t := range g.tops {
		if t.depth < 0 {
			continue
		}
		depth := 0
		if deep {
			depth = t.depth
		}
		var all []found
		t.search(depth, func(f found) error {
			all = append(all, f)
			return nil
		})
		slices.SortStableFunc(all, func(a, b found) int { // directories first, as .git files may name them
			return cmp.Compare(a.stat.Mode&unix.S_IFMT, b.stat.Mode&unix.S_IFMT)
		})
		for _, f := range all {
			if g.knows(f) {
				continue
			}
			why := ""
			if f.name == ".git" {
				if why = g.checkNewGitDir(f); why == "" {
					continue
				}
			}
			said, _ := t.aside(f.at, why)
			problems = append(problems, said)
		}
	}
	return problems
}

// knows reports whether f existed before. A file must have the same path, and without mounts
// a directory, too: elsewhere, a relative path in a .git file has another meaning, and an
// unprotected file may have changed.
func (g *guard) knows(f found) bool {
	where, ok := g.known[idOf(&f.stat)]
	return ok && !g.made[idOf(&f.stat)] && (where == f.where() || g.mounts && !insideAny(g.leave, where) && f.stat.Mode&unix.S_IFMT == unix.S_IFDIR)
}

// stay enforces every second at the top of the workspace, while a command's background
// processes run.
func (g *guard) stay() {
	for range time.Tick(time.Second) {
		g.enforce(false)
	}
}

// enforce reverts the changes at one path.
func (w watched) enforce() (problems []string) {
	is := w.is()
	places := slices.Collect(maps.Keys(is))
	for at := range w.was {
		if _, there := is[at]; !there {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, cmp.Compare[string])
	gone := ""              // a directory that was renamed or restored, with all its entries
	var kept, back []string // paths that were renamed, or restored
	aside := func(at string) string {
		said, to := w.top.aside(at, "")
		gone, kept = at, append(kept, to)
		return said
	}
	restore := func(at string, was fileState) string {
		said, ok := w.top.restore(at, was)
		if ok {
			gone, back = at, append(back, at)
		}
		return said
	}
	for _, at := range places {
		was, before := w.was[at]
		now, there := is[at]
		switch {
		case gone != "" && inside(gone, at):
		case before && there && was.same(now):
		case !there:
			problems = append(problems, fmt.Sprintf("%q was removed%s", at, restore(at, was)))
		case !before && w.harmless(at):
		case !before:
			problems = append(problems, aside(at))
		case was.mode&unix.S_IFMT == unix.S_IFDIR && now.mode&unix.S_IFMT == unix.S_IFDIR && was.id == now.id:
			problems = append(problems, fmt.Sprintf("%q has other permissions", at))
		default:
			problems = append(problems, fmt.Sprintf("%s%s", aside(at), restore(at, was)))
		}
	}
	for at, now := range w.is() {
		if slices.Contains(back, at) || slices.ContainsFunc(kept, func(to string) bool { return inside(to, at) }) {
			now.saved = w.was[at].saved
			w.was[at] = now
		}
	}
	if len(back) > 0 { // files in restored directories
		for _, p := range w.enforce() {
			if !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
	}
	return problems
}

// aside renames the file at a path, and reports the new name and the reason.
func (t *top) aside(at, why string) (said, to string) {
	if why != "" {
		why = " (" + why + ")"
	}
	dir, err := open(t.fd, path.Dir(at), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return fmt.Sprintf("%q was made or changed, and can't be put aside: %v", at, err), at
	}
	defer unix.Close(dir)
	for n := 1; ; n++ {
		name := strings.TrimPrefix(path.Base(at), ".")
		name = fmt.Sprintf("%s.put-aside-%d", name[:min(len(name), 200)], n) // names are limited to 255 bytes
		err := unix.Renameat2(dir, path.Base(at), dir, name, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) && n < 1000 {
			continue
		}
		if err != nil {
			return fmt.Sprintf("%q was made or changed, and can't be put aside: %v", at, err), at
		}
		to = path.Join(path.Dir(at), name)
		return fmt.Sprintf("%q was made or changed, which commands may not do%s; it is now called %q", at, why, to), to
	}
}

// restore writes the old content of a path, and reports success. A renamed directory is
// renamed back; a missing one is created.
func (t *top) restore(at string, was fileState) (said string, ok bool) {
	const (
		not = "; the former files can't be put back"
		yes = "; the former files are back"
	)
	dir, err := open(t.fd, path.Dir(at), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return not, false
	}
	defer unix.Close(dir)
	if was.mode&unix.S_IFMT == unix.S_IFDIR {
		found := errors.New("found")
		if err := entries(dir, func(name string, _ byte) error {
			var st unix.Stat_t
			if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && idOf(&st) == was.id && st.Mode&unix.S_IFMT == unix.S_IFDIR &&
				unix.Renameat2(dir, name, dir, path.Base(at), unix.RENAME_NOREPLACE) == nil {
				return found
			}
			return nil
		}); err != nil {
			return yes, true
		}
		if unix.Mkdirat(dir, path.Base(at), was.mode&0o7777) == nil {
			return yes, true
		}
	}
	if was.saved == nil {
		return not, false
	}
	if was.mode&unix.S_IFMT == unix.S_IFLNK {
		if unix.Symlinkat(string(was.saved), dir, path.Base(at)) != nil {
			return not, false
		}
		return yes, true
	}
	fd, err := unix.Openat(dir, path.Base(at),
		unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return not, false
	}
	f := os.NewFile(uintptr(fd), at)
	_, err = f.Write(was.saved)
	if err = errors.Join(err, unix.Fchmod(fd, was.mode&0o7777), f.Close()); err != nil {
		return not, false
	}
	return yes, true
}
