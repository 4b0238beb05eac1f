package worktree

import (
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// mostConfig limits the bytes read of a git file. Real files are smaller.
const mostConfig = 1 << 20

// FindTree returns the worktree of a directory, and the git directories of its repository;
// nothing if there is none.
func FindTree(dir string) (tree string, kept []string, why string) {
	for dir := range disk.Upward(disk.ResolveLinks(dir)) {
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir():
			kept = []string{at}
		case err == nil:
			if kept = apart(dir); kept == nil {
				return "", nil, "the repository lies elsewhere: " + text.PrintableLine(at)
			}
		default:
			continue
		}
		if _, err := os.Lstat(filepath.Join(kept[len(kept)-1], "objects/info/alternates")); err == nil {
			return "", nil, "the repository has objects of another one"
		}
		return dir, kept, ""
	}
	return "", nil, ""
}

// Outside returns the git directory of a directory's repository if it lies outside of the
// directory, and its links are resolved: the repository of a linked worktree, or of a directory
// above. A linked worktree counts only if its repository lists it.
func Outside(dir string) string {
	dir = disk.ResolveLinks(dir)
	own := disk.ResolveLinks(line(filepath.Join(dir, ".git")))
	common := filepath.Dir(filepath.Dir(own))
	if filepath.Base(filepath.Dir(own)) == "worktrees" && disk.ResolveLinks(line(filepath.Join(own, "gitdir"))) == filepath.Join(dir, ".git") &&
		disk.ResolveLinks(line(filepath.Join(own, "commondir"))) == common {
		return common
	}
	_, kept, _ := FindTree(dir)
	if kept == nil || filepath.Base(kept[len(kept)-1]) != ".git" || disk.Inside(dir, kept[len(kept)-1]) {
		return ""
	}
	return kept[len(kept)-1]
}

// apart returns the git directories of a tree with a .git file: for a module, the directory
// in the parent's repository; for a linked worktree, its own and the common directory.
func apart(dir string) []string {
	own := line(filepath.Join(dir, ".git"))
	if above, _, ok := strings.Cut(own, "/.git/modules/"); ok && disk.Inside(above, dir) {
		return []string{own}
	}
	common := filepath.Dir(filepath.Dir(own))
	if filepath.Base(filepath.Dir(own)) == "worktrees" && filepath.Base(common) == ".git" &&
		line(filepath.Join(own, "gitdir")) == filepath.Join(dir, ".git") &&
		line(filepath.Join(own, "commondir")) == common {
		return []string{own, common}
	}
	return nil
}

// line returns the path that a git file holds.
func line(path string) string {
	b, _ := disk.Read(path, mostConfig)
	to := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir: "))
	if to != "" && !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return disk.ResolveLinks(filepath.Clean(to))
}
