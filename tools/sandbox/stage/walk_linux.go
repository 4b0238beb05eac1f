package stage

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of the search for repositories inside of the workspace. Repositories beyond a limit
// are not found.
const (
	maxDepth       = 8
	maxDirectories = 2000
)

// A found is a directory of a repository or of gemline, or a file or link in its place.
type found struct {
	top  *top
	at   string // below top
	name string // its name in lower case
	stat unix.Stat_t
}

// where returns the place of f.
func (f found) where() string { return path.Join(f.top.path, f.at) }

// A top is a directory whose contents are searched.
type top struct {
	path  string
	fd    int
	depth int    // depth of the search; -1 if it is a repository itself
	hooks string // the user's directory of hooks allowed in new repositories
}

// within reports whether a path is strictly below t.
func (t *top) within(path string) bool { return path != t.path && inside(t.path, path) }

// below returns path relative to t.
func (t *top) below(path string) string {
	if path == t.path {
		return "."
	}
	return strings.TrimPrefix(path, t.path+"/")
}

func openTop(path string, depth int) (*top, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path,
		&unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, err
	}
	return &top{path: path, fd: fd, depth: depth}, nil
}

// open opens a place below dir, without following a link.
func open(dir int, at string, flags int) (int, error) {
	return unix.Openat2(dir, at, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
}

// search calls visit with each found, parents first, down to depth. It searches inside of a
// found only if that is a worktree made by gemline.
func (t *top) search(depth int, visit func(found) error) error {
	type place struct {
		at    string
		depth int
	}
	todo := []place{{".", 0}}
	for n := 0; n < len(todo) && n < maxDirectories; n++ {
		p := todo[n]
		fd, err := open(t.fd, p.at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
		if err != nil {
			continue // it is gone, or unreadable
		}
		err = entries(fd, func(name string, kind byte) error {
			at := path.Join(p.at, name)
			switch {
			case special(name):
				f := found{top: t, at: at, name: strings.ToLower(name)}
				if unix.Fstatat(fd, name, &f.stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
					return nil
				}
				if f.name == ".gemini" && p.depth < depth {
					todo = append(todo, place{path.Join(at, "worktrees"), p.depth + 1})
				}
				return visit(f)
			case p.depth < depth && (kind == unix.DT_DIR || kind == unix.DT_UNKNOWN):
				todo = append(todo, place{at, p.depth + 1})
			}
			return nil
		})
		unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// special reports whether a name is that of a repository or of gemline's configuration.
func special(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, ".gemini")
}

// entries calls visit with each entry of the directory fd and its kind.
func entries(fd int, visit func(name string, kind byte) error) error {
	const kindAt, nameAt = 18, 19 // in a struct linux_dirent64
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return nil
		}
		for b := buf[:n]; len(b) > nameAt; {
			size := int(b[16]) | int(b[17])<<8
			if size <= nameAt || size > len(b) {
				return nil
			}
			name, _, _ := strings.Cut(string(b[nameAt:size]), "\x00")
			kind := b[kindAt]
			b = b[size:]
			if name == "." || name == ".." {
				continue
			}
			if err := visit(name, kind); err != nil {
				return err
			}
		}
	}
}
