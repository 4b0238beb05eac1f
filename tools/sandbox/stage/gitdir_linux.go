package stage

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// parts protects the files that programs obey in the repository at a path. fd is the
// repository in the command's view.
func (g *guard) parts(t *top, at string, fd int) error {
	for _, name := range gitDirectories {
		if err := g.absent(t, at, name, fd); err != nil {
			return err
		}
	}
	for _, name := range gitFiles {
		if err := g.file(t, at, name, fd); err != nil {
			return err
		}
	}
	for _, name := range gitPlaces {
		if err := g.place(t, at, name, fd); err != nil {
			return err
		}
	}
	if err := g.worktrees(t, at, fd); err != nil {
		return err
	}
	g.watchRebase(t, at)
	for _, name := range []string{"hooks", "info", "modules", "config", "config.worktree"} { // last: it may hide fd
		if err := g.linked(path.Join(t.path, at, name)); err != nil {
			return err
		}
	}
	return nil
}

// place protects a file some directories below a repository. Each of the directories
// becomes a mount point, which can't be moved.
func (g *guard) place(t *top, at, name string, fd int) error {
	dir, base := path.Split(name)
	if !g.mounts || dir == "" {
		return g.file(t, at, name, fd)
	}
	part, err := open(fd, name, unix.O_PATH)
	if err != nil {
		g.watch(t, path.Join(at, name)) // it is not there
		return nil
	}
	unix.Close(part)
	var opened []int
	defer func() {
		for _, fd := range opened {
			unix.Close(fd)
		}
	}()
	for part := range strings.SplitSeq(path.Clean(dir), "/") {
		step, err := open(fd, part, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return err
		}
		opened = append(opened, step)
		if fd, err = cover(step, false); err != nil {
			return err
		}
		opened = append(opened, fd)
		at = path.Join(at, part)
	}
	return g.file(t, at, base, fd)
}

// worktrees protects a repository's linked worktrees: none can be added or moved, and the
// paths of their configuration stay the same. Other files of a worktree's git directory stay
// writable, as work in it needs them.
func (g *guard) worktrees(t *top, at string, fd int) error {
	if fd < 0 {
		var err error
		if fd, err = open(t.fd, at, unix.O_PATH|unix.O_DIRECTORY); err != nil {
			return nil
		}
		defer unix.Close(fd)
	}
	if !g.mounts {
		g.entries(t, path.Join(at, "worktrees"))
	}
	all, err := open(fd, "worktrees", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil && !g.mounts {
		return nil
	}
	if err != nil {
		return g.absent(t, at, "worktrees", fd)
	}
	defer unix.Close(all)
	trees, err := g.trees(t, path.Join(at, "worktrees"), all)
	if err != nil || !g.mounts {
		return err
	}
	if len(trees) == 0 { // it may be another guard's placeholder
		return g.absent(t, at, "worktrees", fd)
	}
	at = path.Join(at, "worktrees")
	mount, err := cover(all, true)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	for _, own := range trees {
		if err := g.tree(t, path.Join(at, own.name), own, mount); err != nil {
			return err
		}
	}
	return nil
}

// A worktreeDir is the git directory of a linked worktree, as it was before the directory of
// worktrees became read-only.
type worktreeDir struct {
	name string
	fd   int
}

// trees returns the git directories of a repository's linked worktrees; without mounts it
// watches them.
func (g *guard) trees(t *top, at string, all int) (trees []worktreeDir, err error) {
	err = entries(all, func(name string, _ byte) error {
		own, err := open(all, name, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return nil
		}
		defer unix.Close(own)
		if g.mounts {
			copied, err := copyTree(own)
			trees = append(trees, worktreeDir{name, copied})
			return err
		}
		for _, file := range gitTreeParts {
			if err := g.file(t, path.Join(at, name), file, own); err != nil {
				return err
			}
		}
		g.watchRebase(t, path.Join(at, name))
		return nil
	})
	return trees, err
}

// tree makes the git directory of a linked worktree writable, except the paths of its
// configuration.
func (g *guard) tree(t *top, at string, own worktreeDir, all int) error {
	defer unix.Close(own.fd)
	to, err := open(all, own.name, unix.O_PATH|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(to)
	if err := move(own.fd, to); err != nil {
		return err
	}
	for _, file := range gitTreeParts {
		if err := g.file(t, at, file, own.fd); err != nil {
			return err
		}
	}
	g.watchRebase(t, at)
	return nil
}
