package stage

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gemline/engine/disk"
)

// Files and directories of a repository that make git run programs, or point to such files.
// The directories are harmless when empty, and most repositories have them. For linked
// worktrees see worktrees, for rebases watchRebase.
var (
	gitDirectories = []string{"hooks", "info", "modules"}
	gitFiles       = []string{"config", "config.worktree", "commondir", "gitdir"}
	gitTreeParts   = []string{"config.worktree", "commondir", "gitdir", "modules"} // of a worktree

	// gitPlaces are old files for addresses of remotes, and the files that name object
	// directories of other repositories.
	gitPlaces = []string{"branches", "remotes", "objects/info/alternates", "objects/info/http-alternates"}
)

// A guard prevents changes to files that other programs run or obey later: hooks and
// configuration of repositories, and gemline's configuration in a project.
//
// With mounts, existing directories are read-only. Missing directories are replaced by empty
// read-only placeholders, which are removed later. Other missing files, and without mounts
// all files, are watched: see enforce.
type guard struct {
	mounts bool
	leave  []string   // paths that the command removes or moves: repositories in them are watched, not mounted
	mu     sync.Mutex // guards the next fields while the command runs
	tops   []*top
	known  map[id]string // accepted repositories and similar directories, by id
	made   map[id]bool   // known directories that did not exist before

	anchored map[string]*top // holders of the directories that stay in their places, by their paths
	watched  []watched
	rebases  []rebaseDir
	places   []placeholder
}

// An id identifies a file independently of its path.
type id struct{ device, inode uint64 }

func idOf(st *unix.Stat_t) id { return id{uint64(st.Dev), st.Ino} }

// A placeholder is an empty directory in the place of a missing one.
type placeholder struct {
	parent, fd, mount int
	name              string
}

// marked is the mode of placeholders. Nobody else makes directories with this mode, so a
// killed process's placeholders are recognized, too.
const marked = unix.S_ISVTX | 0o700

// newWatch returns the guard of a command without mounts, or nil if the second stage has the
// guard.
func newWatch(s *Spec) (*guard, error) {
	if s.has(Namespaces) || s.Path == "" {
		return nil, nil
	}
	return protect(s, false)
}

// protect protects the paths of s from the command.
func protect(s *Spec, mounts bool) (*guard, error) {
	g := &guard{mounts: mounts, known: map[id]string{}, made: map[id]bool{}, anchored: map[string]*top{}}
	if s.RunReadOnly || s.Root == "" {
		return g, nil
	}
	for _, path := range s.Removed {
		if !inside(path, s.Root) { // the workspace stays
			g.leave = append(g.leave, path)
		}
	}
	for i, dir := range append([]string{s.Root}, s.Write...) {
		depth := maxDepth
		switch {
		case i > 0 && path.Base(dir) == ".git":
			depth = -1
		case i > 0 && s.Cache != "" && inside(dir, s.Cache):
			depth = 0
		}
		t, err := openTop(dir, depth)
		if err != nil && i > 0 {
			continue // it is not there, or a file
		}
		if err != nil {
			return nil, fmt.Errorf("search the workspace: %w", err)
		}
		t.hooks = s.Hooks
		g.tops = append(g.tops, t)
	}
	for _, path := range s.Kept {
		if t := g.holder(path); t != nil {
			g.watched = append(g.watched, t.keep(t.below(path), mounts)...)
		}
	}
	if s.Unprotected {
		g.tops = nil
	}
	for i, t := range g.tops {
		var err error
		switch {
		case i == 0:
			err = g.absent(t, ".", ".gemini", t.fd)
		case t.depth < 0:
			err = g.parts(t, ".", t.fd)
		}
		if err == nil && t.depth >= 0 {
			err = t.search(t.depth, g.protect)
		}
		if err != nil {
			return nil, fmt.Errorf("protect what is in %s: %w", t.path, err)
		}
	}
	return g, nil
}

// protect protects a found path.
func (g *guard) protect(f found) error {
	if g.knows(f) { // known already
		return nil
	}
	g.known[idOf(&f.stat)] = f.where()
	kind := f.stat.Mode & unix.S_IFMT
	if f.name == ".git" && kind != unix.S_IFDIR {
		if err := g.apart(f); err != nil {
			return err
		}
	} else if f.name == ".gemini" {
		if err := g.linked(f.where()); err != nil {
			return err
		}
	}
	if f.name == ".git" && insideAny(g.leave, f.where()) {
		defer func(was bool) { g.mounts = was }(g.mounts)
		g.mounts = false
	}
	if !g.mounts || kind != unix.S_IFDIR && kind != unix.S_IFREG {
		if kind == unix.S_IFDIR && f.name == ".git" {
			return g.parts(f.top, f.at, -1)
		}
		g.watch(f.top, f.at)
		return nil
	}
	fd, err := open(f.top.fd, f.at, unix.O_PATH)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if f.name == ".git" && kind == unix.S_IFDIR {
		mount, err := cover(fd, false) // a place where something is mounted can't be moved
		if err != nil {
			return err
		}
		return g.parts(f.top, f.at, mount)
	}
	inside := -1
	if kind == unix.S_IFDIR {
		if worktrees, err := open(fd, "worktrees", unix.O_PATH|unix.O_DIRECTORY); err == nil {
			defer unix.Close(worktrees)
			if inside, err = copyTree(worktrees); err != nil {
				return err
			}
			defer unix.Close(inside)
		}
	}
	mount, err := cover(fd, true)
	if err != nil || inside < 0 {
		return err
	}
	to, err := open(mount, "worktrees", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return move(inside, to)
}

// holder returns the innermost writable directory that is or contains path, nil if there is
// none.
func (g *guard) holder(path string) (holder *top) {
	for _, t := range g.tops {
		if inside(t.path, path) && (holder == nil || len(t.path) > len(holder.path)) {
			holder = t
		}
	}
	return holder
}

// left reports whether the command was to remove or move the repository that a watched path was in,
// and has done so.
func (g *guard) left(w watched) bool {
	where := path.Join(w.top.path, w.at)
	for where != "/" && path.Base(where) != ".git" {
		where = path.Dir(where)
	}
	file, there := idAt(where)
	return path.Base(where) == ".git" && insideAny(g.leave, where) && !(there && g.known[file] == where)
}

func insideAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return inside(dir, path) })
}

// apart protects the repository that a .git file names, if it has another name and commands
// can write to it.
func (g *guard) apart(f found) error {
	at := disk.ResolveLinks(f.where())
	if f.stat.Mode&unix.S_IFMT == unix.S_IFREG {
		at = repositoryAt(gitdir(path.Dir(f.where())))
	}
	t := g.holder(at)
	if t == nil || special(path.Base(at)) || g.knowsAt(at) {
		return nil
	}
	for above := at; above != t.path; above = path.Dir(above) {
		if of := repositoryAt(path.Dir(above)); path.Base(above) == "modules" && (special(path.Base(of)) || g.knowsAt(of)) {
			return nil // its main repository is protected
		}
	}
	at = t.below(at)
	if !there(t.fd, path.Join(at, "HEAD")) {
		return nil
	}
	fd, err := open(t.fd, at, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	g.known[idOf(&st)] = path.Join(t.path, at)
	if at == "." {
		return g.parts(t, at, t.fd)
	}
	mount := -1
	if g.mounts {
		if err := g.anchor(t, at); err != nil { // its parents must stay, too
			return err
		}
		if mount, err = open(t.fd, at, unix.O_PATH|unix.O_DIRECTORY); err != nil {
			return err
		}
	}
	return g.parts(t, at, mount)
}

// linked protects the targets of links at a protected path, and of links in it, where commands
// can write. The parent directories of a target can't be moved, nor can links on the way.
func (g *guard) linked(where string) error {
	for _, place := range disk.LinkTargets(where) {
		t := g.holder(place)
		if t == nil || place == t.path {
			continue
		}
		at := t.below(place)
		var st unix.Stat_t
		fd, err := open(t.fd, at, unix.O_PATH)
		if err == nil {
			err = unix.Fstat(fd, &st)
			unix.Close(fd)
		}
		if !g.mounts || err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
			g.watch(t, at)
		} else if err = g.anchor(t, path.Dir(at)); err == nil {
			err = t.cover(at, true)
		}
		if err != nil && !outOfReach(err) {
			return err
		}
	}
	return nil
}

// keep protects a path that is a link or missing. It mounts on a link if the kernel can, and
// else returns the path to be watched. Paths below .gemini and the like are protected with
// the directory.
func (t *top) keep(at string, mounts bool) []watched {
	var st unix.Stat_t
	if unix.Fstatat(t.fd, at, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK ||
		mounts && t.cover(at, true) == nil || slices.ContainsFunc(strings.Split(at, "/"), special) {
		return nil
	}
	w := watched{top: t, at: at, way: true}
	w.was = w.is()
	return []watched{w}
}

// anchor keeps a directory, and its parents, in their places. Files opened below it
// before are hidden then.
func (g *guard) anchor(t *top, at string) error {
	if at == "." || g.anchored[path.Join(t.path, at)] != nil {
		return nil
	}
	if err := g.anchor(t, path.Dir(at)); err != nil {
		return err
	}
	g.anchored[path.Join(t.path, at)] = t
	return t.cover(at, false)
}

func copyTree(fd int) (int, error) {
	return unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
}

// cover mounts the file fd on itself, perhaps read-only, and returns a descriptor of the
// mount.
func cover(fd int, readOnly bool) (int, error) {
	tree, err := copyTree(fd)
	if err != nil {
		return -1, err
	}
	if readOnly {
		err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE,
			&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	if err == nil {
		err = move(tree, fd)
	}
	if err != nil {
		unix.Close(tree)
		return -1, err
	}
	return tree, nil
}

// coverIgnored mounts a read-only directory that git ignores on fd, and returns a descriptor
// of the mount. git clean -d and git stash -u remove empty directories, and fail if they can't.
func coverIgnored(fd int) (int, error) {
	dir, err := memory("0700", 0)
	if err != nil {
		return -1, err
	}
	f, err := unix.Openat(dir, ".gitignore", unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err == nil {
		_, err = unix.Write(f, []byte("*\n"))
		unix.Close(f)
	}
	if err == nil {
		err = unix.MountSetattr(dir, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	if err == nil {
		err = move(dir, fd)
	}
	if err != nil {
		unix.Close(dir)
		return -1, err
	}
	return dir, nil
}

// cover mounts a path on itself, perhaps read-only.
func (t *top) cover(at string, readOnly bool) error {
	fd, err := open(t.fd, at, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	mount, err := cover(fd, readOnly)
	if err != nil {
		return err
	}
	return unix.Close(mount)
}

// uncover unmounts all mounts on a path.
func (t *top) uncover(at string) {
	for err := error(nil); err == nil; {
		var fd int
		if fd, err = open(t.fd, at, unix.O_PATH); err == nil {
			err = unix.Unmount(fmt.Sprintf("/proc/self/fd/%d", fd), unix.MNT_DETACH)
			unix.Close(fd)
		}
	}
}

// file protects a file of a repository, or watches over its absence.
func (g *guard) file(t *top, at, name string, fd int) error {
	if g.mounts {
		part, err := open(fd, name, unix.O_PATH)
		if err == nil {
			defer unix.Close(part)
			var st unix.Stat_t
			if err := unix.Fstat(part, &st); err != nil {
				return err
			}
			if st.Mode&unix.S_IFMT != unix.S_IFLNK {
				_, err := cover(part, true)
				return err
			}
		} else if !outOfReach(err) {
			return err
		}
	}
	g.watch(t, path.Join(at, name))
	return nil
}

// outOfReach reports whether a path is missing, a link, or, in another user's directory,
// inaccessible for the command, too.
func outOfReach(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EACCES)
}

// absent makes a directory read-only. A missing directory is created empty.
func (g *guard) absent(t *top, at, name string, fd int) error {
	if !g.mounts {
		g.watch(t, path.Join(at, name))
		return nil
	}
	part, p, err := g.directory(fd, name)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		g.watch(t, path.Join(at, name)) // a link, or nothing that the command could make
		return nil
	case err != nil:
		return err
	}
	defer unix.Close(part)
	if name == ".gemini" && p == nil {
		return nil // it was found and is protected
	}
	var mount int
	if name == ".gemini" {
		mount, err = coverIgnored(part)
	} else {
		mount, err = cover(part, true)
	}
	if err != nil {
		return err
	}
	if p != nil {
		var st unix.Stat_t
		if err := unix.Fstat(mount, &st); err != nil {
			return err
		}
		g.known[idOf(&st)] = path.Join(t.path, at, name)
		p.mount = mount
		g.places = append(g.places, *p)
	}
	return nil
}

// directory opens a directory below dir, creating it if needed. A placeholder is locked,
// since only an unlocked placeholder may be removed.
func (g *guard) directory(dir int, name string) (int, *placeholder, error) {
	for tries := range 200 { // some two seconds
		time.Sleep(time.Duration(min(tries, 10)) * time.Millisecond)
		err := unix.Mkdirat(dir, name, marked) // with the mode at once, or another guard would not recognize it
		made := err == nil
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return -1, nil, err
		}
		fd, err := open(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if errors.Is(err, unix.EACCES) { // not ours to read
			fd, err = open(dir, name, unix.O_PATH|unix.O_DIRECTORY)
			return fd, nil, err
		}
		if err != nil {
			return -1, nil, err
		}
		there := func() bool {
			var mine, its unix.Stat_t
			return errors.Join(unix.Fstat(fd, &mine),
				unix.Fstatat(dir, name, &its, unix.AT_SYMLINK_NOFOLLOW)) == nil && idOf(&mine) == idOf(&its)
		}
		if made {
			err = unix.Fchmod(fd, marked)
		} else if !isPlaceholder(fd) && there() { // a directory that vanished meanwhile was no placeholder
			return fd, nil, nil
		}
		if err == nil {
			err = unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
		}
		if errors.Is(err, unix.EWOULDBLOCK) || !there() {
			unix.Close(fd) // another guard is removing it
			continue
		}
		kept, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return -1, nil, err
		}
		return fd, &placeholder{parent: dir, fd: kept, name: name}, nil
	}
	return -1, nil, fmt.Errorf("%s comes and goes", name)
}

// isPlaceholder reports whether a guard has made a directory.
func isPlaceholder(fd int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&0o7777 != marked || int(st.Uid) != unix.Geteuid() {
		return false
	}
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(again)
	return entries(again, func(string, byte) error { return unix.EEXIST }) == nil
}

// clean removes the placeholders that no other guard needs.
func (g *guard) clean() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, t := range g.anchored { // they hold copies of the mounts below them
		t.uncover(t.below(path))
	}
	for _, p := range g.places {
		unix.Unmount(fmt.Sprintf("/proc/self/fd/%d", p.mount), unix.MNT_DETACH)
		if unix.Flock(p.fd, unix.LOCK_EX|unix.LOCK_NB) == nil && isPlaceholder(p.fd) {
			unix.Unlinkat(p.parent, p.name, unix.AT_REMOVEDIR)
		}
		unix.Close(p.fd)
	}
	g.places = nil
}
