package stage

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// harmless reports whether something new that is called .git is what git makes
// of itself: no hooks, and a configuration that makes nothing run.
func (g *guard) harmless(f found) bool {
	kind := f.stat.Mode & unix.S_IFMT
	if f.name == ".git" && kind == unix.S_IFREG {
		return g.tree(path.Join(f.top.path, path.Dir(f.at)))
	}
	if f.name != ".git" || kind != unix.S_IFDIR {
		return false
	}
	fd, err := open(f.top.fd, f.at, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return errors.Is(err, unix.ENOENT)
	}
	defer unix.Close(fd)
	for _, name := range []string{"config.worktree", "commondir", "gitdir", "modules"} {
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return false
		}
	}
	var st unix.Stat_t
	if unix.Fstatat(fd, "hooks", &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		hooks, err := open(fd, "hooks", unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return false
		}
		defer unix.Close(hooks)
		if entries(hooks, func(name string, _ byte) error {
			if !strings.HasSuffix(name, ".sample") {
				return unix.EEXIST
			}
			return nil
		}) != nil {
			return false
		}
	}
	if unix.Fstatat(fd, "config", &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return true
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxSaved {
		return false
	}
	config := contents(fd, "config")
	return config != nil && plainConfig(string(config))
}

// plainKeys are what a configuration of git may set that makes nothing run.
// The middle part of a name, where there is one, may be anything.
var plainKeys = map[string]bool{
	"core.repositoryformatversion": true, "core.filemode": true, "core.bare": true, "core.logallrefupdates": true,
	"core.symlinks": true, "core.ignorecase": true, "core.precomposeunicode": true,
	"user.name": true, "user.email": true, "init.defaultbranch": true,
	"remote.url": true, "remote.fetch": true, "branch.remote": true, "branch.merge": true, "branch.rebase": true,
	"extensions.objectformat": true, "extensions.refstorage": true,
}

// plainConfig reports whether a configuration of git is certain to make
// nothing run. What is not written in the plainest way is not.
func plainConfig(text string) bool {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", line[0] == '#', line[0] == ';':
			continue
		case strings.ContainsAny(line, "\\\x00\r"):
			return false
		case line[0] == '[':
			if line[len(line)-1] != ']' {
				return false
			}
			name, rest, sub := strings.Cut(line[1:len(line)-1], " ")
			if sub && (len(rest) < 2 || rest[0] != '"' || strings.IndexByte(rest[1:], '"') != len(rest)-2) || strings.ContainsAny(name, `."]`) {
				return false
			}
			section = strings.ToLower(name)
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !plainKeys[section+"."+key] {
			return false
		}
		// Quotation marks go wherever they stand: what is between them and
		// around them is one value.
		if value = strings.ReplaceAll(value, `"`, ""); key == "url" && (strings.Contains(value, "::") || strings.HasPrefix(value, "-")) {
			return false
		}
	}
	return true
}

// linked returns the repository that the workspace belongs to if that is
// elsewhere, as it is for a tree that git worktree has made: commits are
// written there. The workspace alone can't claim that, since a command writes
// what it says; the repository must know of the tree.
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
	if errors.Join(err1, err2, err3) != nil || back != file || path.Base(common) != ".git" || path.Dir(own) != path.Join(common, "worktrees") || within(common, root) {
		return ""
	}
	return common
}

// tree reports whether a directory is a further tree, as git worktree makes
// it, of a repository that was there.
func (g *guard) tree(dir string) bool {
	own, ok := strings.CutPrefix(line(path.Join(dir, ".git")), "gitdir: ")
	if !ok || !path.IsAbs(own) || path.Base(path.Dir(own)) != "worktrees" || line(path.Join(own, "commondir")) != "../.." {
		return false
	}
	var st unix.Stat_t
	if unix.Lstat(path.Join(own, "config.worktree"), &st) == nil {
		return false
	}
	return unix.Lstat(path.Dir(path.Dir(own)), &st) == nil && g.known[idOf(&st)]
}

// line returns the one line of a file, or nothing. A command may have made it,
// or where it leads: pipes are not waited for, and devices not read.
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
