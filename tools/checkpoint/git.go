package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// absolute returns a path as a call means it.
func (k *Keeper) absolute(path, dir string) string {
	if dir == "" {
		dir = k.cfg.Workspace.Roots()[0]
	}
	return filepath.Clean(disk.Absolute(path, dir, ""))
}

// mostRefs is how many branches are looked at.
const mostRefs = 500

// seeGit returns what there is to see of the repositories that are worked in: lines
// of a name and what stands there.
func (k *Keeper) seeGit() (seen []string) {
	for _, root := range k.cfg.Workspace.Roots() {
		dir := filepath.Join(workspace.Top(root), ".git")
		if info, err := os.Stat(dir); err != nil {
			continue
		} else if !info.IsDir() { // a worktree or a submodule says where it is
			line := firstLine(dir)
			to, ok := strings.CutPrefix(line, "gitdir: ")
			if !ok {
				continue
			}
			dir = disk.Absolute(to, filepath.Dir(dir), "")
		}
		common := dir
		if to := firstLine(filepath.Join(dir, "commondir")); to != "" {
			common = disk.Absolute(to, dir, "")
		}
		seen = append(seen, "HEAD\t"+firstLine(filepath.Join(dir, "HEAD")))
		if info, err := os.Lstat(filepath.Join(dir, "index")); err == nil {
			seen = append(seen, fmt.Sprintf("what is staged\t%d %d", info.Size(), info.ModTime().UnixNano()))
		}
		n := 0
		filepath.WalkDir(filepath.Join(common, "refs"), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if n++; n > mostRefs {
					return filepath.SkipAll
				}
				name, _ := filepath.Rel(common, path)
				name = strings.TrimPrefix(filepath.ToSlash(name), "refs/")
				seen = append(seen, strings.Replace(name, "heads/", "branch ", 1)+"\t"+firstLine(path))
			}
			return nil
		})
	}
	return seen
}

// firstLine returns the beginning of a file, "" if there is none.
func firstLine(path string) string {
	b, _ := disk.Read(path, 64<<10)
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// moved returns the names of what two looks at repositories do not have in common.
func moved(before, after []string) (names []string) {
	for _, pair := range [][2][]string{{before, after}, {after, before}} {
		for _, line := range pair[0] {
			name, _, _ := strings.Cut(line, "\t")
			if !slices.Contains(pair[1], line) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
