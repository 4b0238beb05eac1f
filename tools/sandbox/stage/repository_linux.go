package stage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"gemline/tools/gitconfig"
)

// checkNewGitDir returns why a new .git may be unsafe, "" if git could have made it and it
// runs no program.
func (g *guard) checkNewGitDir(f found) string {
	switch f.stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return g.checkGitFile(f.top, path.Join(f.top.path, path.Dir(f.at)))
	case unix.S_IFDIR:
		return g.fresh(f.top, f.at)
	}
	return "it is neither a directory nor a file"
}

// maxModules is how deep repositories of modules may be nested.
const maxModules = 4

// repository returns the part of a repository that makes git run a program, or use files
// elsewhere. depth counts the repositories above a module.
func repository(t *top, at string, depth int) string {
	fd, err := open(t.fd, at, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			return ""
		}
		return "it can't be looked at"
	}
	defer unix.Close(fd)
	for _, name := range gitFiles[2:] {
		if there(fd, name) {
			return "it has a file " + name
		}
	}
	for _, name := range gitDirectories {
		if isLink(fd, name) {
			return "its " + name + " is a link"
		}
	}
	if why := hooks(fd, t.hooks); why != "" {
		return why
	}
	for _, name := range gitFiles[:2] {
		more := func(e gitconfig.Entry) bool {
			return depth > 0 && e.String() == "core.worktree" && belongs(t, path.Join(t.path, at), e.Value)
		}
		if why := configuration(fd, name, more); why != "" {
			return why
		}
	}
	if why := todos(fd); why != nil {
		return fmt.Sprintf("%s has git run %q", why.file, why.line)
	}
	if why := trees(t, path.Join(at, "worktrees")); why != "" {
		return why
	}
	return modules(t, path.Join(at, "modules"), depth+1)
}

func there(fd int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

func isLink(fd int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// sole reports whether a file has only one hard link: otherwise another path could be used
// to write it.
func sole(fd int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Nlink == 1
}

// hooks returns a hook of a repository that is not known to be harmless. Hooks that equal
// those in the user's directory own are allowed.
func hooks(fd int, own string) (why string) {
	if !there(fd, "hooks") {
		return ""
	}
	dir, err := open(fd, "hooks", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return "its hooks can't be looked at"
	}
	defer unix.Close(dir)
	entries(dir, func(name string, _ byte) error {
		if why != "" || strings.HasSuffix(name, ".sample") {
			return nil
		}
		text := contents(dir, name)
		mine, err := os.ReadFile(path.Join(own, name))
		known := gitconfig.IsLFSHook(name, string(text)) || own != "" && err == nil &&
			text != nil && bytes.Equal(mine, text)
		if !known || !sole(dir, name) {
			why = fmt.Sprintf("it has the hook %.100q", name)
		}
		return nil
	})
	return why
}

// configuration returns the setting in a configuration file that may make git run a program.
func configuration(fd int, name string, more func(gitconfig.Entry) bool) string {
	if !there(fd, name) {
		return ""
	}
	text := contents(fd, name)
	if text == nil || !sole(fd, name) {
		return "its " + name + " can't be read, or is written to elsewhere"
	}
	if why := gitconfig.FirstUnsafe(string(text), more); why != "" {
		return fmt.Sprintf("its %s %.200s", name, why)
	}
	return ""
}

// trees returns what is unsafe in the worktrees of a new repository.
func trees(t *top, at string) (why string) {
	all, err := open(t.fd, at, unix.O_RDONLY|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return ""
	}
	if err != nil {
		return "its worktrees can't be looked at"
	}
	defer unix.Close(all)
	entries(all, func(name string, _ byte) error {
		why = cmp.Or(linkedTree(t, path.Join(at, name)), why)
		return nil
	})
	return why
}

// linkedTree returns what is unsafe in the git directory of a linked worktree.
func linkedTree(t *top, at string) string {
	own, err := open(t.fd, at, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return "a worktree of it can't be looked at"
	}
	defer unix.Close(own)
	if common := contents(own, "commondir"); string(common) != "../..\n" {
		return "a worktree of it has its configuration elsewhere"
	}
	if why := todos(own); why != nil {
		return fmt.Sprintf("%s has git run %q", why.file, why.line)
	}
	if why := configuration(own, "config.worktree", func(gitconfig.Entry) bool { return false }); why != "" {
		return why
	}
	return modules(t, path.Join(at, "modules"), 1)
}

// modules returns what in the repositories of modules makes git run a program. Their names
// may have slashes.
func modules(t *top, at string, depth int) (why string) {
	fd, err := open(t.fd, at, unix.O_RDONLY|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return ""
	}
	if err != nil || strings.Count(at, "/") > maxDepth+4*maxModules || depth > maxModules {
		return "its modules can't be looked at"
	}
	defer unix.Close(fd)
	entries(fd, func(name string, _ byte) error {
		if why != "" {
			return nil
		}
		in := path.Join(at, name)
		one, err := open(fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			why = "its modules are strange"
			return nil
		}
		defer unix.Close(one)
		if there(one, "HEAD") || there(one, "config") {
			why = repository(t, in, depth)
		} else {
			why = modules(t, in, depth)
		}
		return nil
	})
	return why
}

// belongs reports whether the tree that a submodule's repository at dir claims leads back to the
// repository.
func belongs(t *top, dir, worktree string) bool {
	tree := path.Join(dir, worktree)
	if path.IsAbs(worktree) || !inside(t.path, tree) {
		return false
	}
	real, err := filepath.EvalSymlinks(tree)
	return err == nil && real == tree && gitdir(tree) == dir
}

// gitdir returns the git directory that the .git file in dir names, with links resolved; ""
// if there is none.
func gitdir(dir string) string {
	own, ok := strings.CutPrefix(line(path.Join(dir, ".git")), "gitdir: ")
	if !ok {
		return ""
	}
	if !path.IsAbs(own) {
		own = path.Join(dir, own)
	}
	own, err := filepath.EvalSymlinks(own)
	if err != nil {
		return ""
	}
	return own
}

// repositoryAt returns the repository of the git directory own, which may belong to a
// linked worktree.
func repositoryAt(own string) string {
	if above := path.Dir(own); path.Base(above) == "worktrees" {
		return path.Dir(above)
	}
	return own
}

// checkGitFile returns why a file .git in a directory below t is unsafe: it may name a
// repository below t, or the git directory of a worktree or module of a known repository.
func (g *guard) checkGitFile(t *top, dir string) string {
	own := gitdir(dir)
	if own == "" {
		return "it does not say where a repository is"
	}
	at := repositoryAt(own)
	holder := g.holder(own)
	if holder != nil && at != own && g.knowsAt(at) {
		return linkedTree(holder, holder.below(own))
	}
	for above := at; holder != nil && above != "/"; above = path.Dir(above) {
		of, _ := idAt(path.Dir(above))
		switch {
		case path.Base(above) != "modules" || !g.knowsAt(repositoryAt(path.Dir(above))):
		case g.mounts && g.known[of] != "" && !g.made[of]:
			return "" // the command can't write there
		default:
			return repository(holder, holder.below(at), 1) // a module may have any worktree
		}
	}
	if t.within(at) && there(t.fd, path.Join(t.below(at), "HEAD")) {
		return g.fresh(t, t.below(at))
	}
	return fmt.Sprintf("it leads to a repository elsewhere, %.200q", own)
}

// knowsAt reports whether there is a known repository at a path.
func (g *guard) knowsAt(at string) bool {
	file, there := idAt(at)
	return there && g.known[file] != ""
}

func idAt(at string) (file id, there bool) {
	var st unix.Stat_t
	err := unix.Lstat(at, &st)
	return idOf(&st), err == nil
}

// fresh returns the part of a new repository that makes git run a program. If there is none,
// the repository is known from now on.
func (g *guard) fresh(t *top, at string) string {
	why := repository(t, at, 0)
	var st unix.Stat_t
	if why == "" && unix.Fstatat(t.fd, at, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		g.known[idOf(&st)], g.made[idOf(&st)] = path.Join(t.path, at), true
	}
	return why
}

// linked returns the main repository of the workspace if it is a linked worktree: commits
// are written there. The repository must list the worktree; the workspace's .git file alone
// is not trusted, as commands can write it.
func linked(root string) string {
	file := path.Join(root, ".git")
	var st unix.Stat_t
	if unix.Lstat(file, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	own, ok := strings.CutPrefix(line(file), "gitdir: ")
	if !ok {
		return ""
	}
	if !path.IsAbs(own) {
		own = path.Join(root, own)
	}
	back := line(path.Join(own, "gitdir"))
	if back != "" && !path.IsAbs(back) {
		back = path.Join(own, back)
	}
	common := line(path.Join(own, "commondir"))
	if back == "" || common == "" {
		return ""
	}
	if !path.IsAbs(common) {
		common = path.Join(own, common)
	}
	common, err1 := filepath.EvalSymlinks(common)
	own, err2 := filepath.EvalSymlinks(own)
	back, err3 := filepath.EvalSymlinks(back)
	if errors.Join(err1, err2, err3) != nil || back != file || path.Base(common) != ".git" ||
		path.Dir(own) != path.Join(common, "worktrees") || inside(root, common) {
		return ""
	}
	return common
}

// line returns the only line of a file, or "". As a command may have made the file or its
// target, line does not wait for pipes and reads no devices.
func line(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, maxLine+1))
	text := strings.TrimSuffix(string(b), "\n")
	if err != nil || len(b) > maxLine || strings.ContainsAny(text, "\n\x00") {
		return ""
	}
	return text
}

const maxLine = 4096 // bytes
