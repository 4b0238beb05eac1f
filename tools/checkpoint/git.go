package checkpoint

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// mostRefs is how many branches are looked at, and mostStaged how many bytes of an index.
const (
	mostRefs   = 500
	mostStaged = 128 << 20
)

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
		if line := k.staged(filepath.Join(dir, "index")); line != "" {
			seen = append(seen, "what is staged\t"+line)
		}
		for _, name := range []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				word, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "-")
				seen = append(seen, "a "+word+" in progress\tyes")
			}
		}
		for name, at := range refsOf(common) {
			seen = append(seen, strings.Replace(strings.TrimPrefix(name, "refs/"), "heads/", "branch ", 1)+"\t"+at)
		}
	}
	return seen
}

// refsOf returns where the branches and tags of a repository are: of those that are packed
// and have a file of their own, that counts.
func refsOf(common string) map[string]string {
	all := map[string]string{}
	packed, _ := disk.Read(filepath.Join(common, "packed-refs"), 1<<20)
	for line := range strings.Lines(string(packed)) {
		if at, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok &&
			strings.HasPrefix(name, "refs/") && len(all) < mostRefs {
			all[name] = at
		}
	}
	n := 0
	filepath.WalkDir(filepath.Join(common, "refs"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if n++; n > mostRefs {
				return filepath.SkipAll
			}
			if name, err := filepath.Rel(common, path); err == nil {
				all[filepath.ToSlash(name)] = firstLine(path)
			}
		}
		return nil
	})
	return all
}

// staged tells what an index holds from what it held, "" if there is none. It is read
// only if it was written since it was looked at last.
func (k *Keeper) staged(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	stamp, ok := disk.StampOf(info)
	if last, known := k.index[path]; known && ok && last.stamp == stamp {
		return last.holds
	}
	b, err := disk.Read(path, mostStaged)
	if err != nil {
		return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	sum := stagedIn(b)
	if ok && stamp.Settled(time.Now()) {
		if k.index == nil {
			k.index = map[string]indexed{}
		}
		k.index[path] = indexed{stamp, sum}
	}
	return sum
}

// An indexed file is what an index held when it was written as the stamp says.
type indexed struct {
	stamp disk.Stamp
	holds string
}

// What an index begins with, and how many bytes of an entry say how the file was that git
// has compared it with.
const (
	stagedMagic = "DIRC"
	stagedHead  = 12
	stagedStat  = 40
)

// stagedIn returns a sum over the entries of an index but for when and where git has last
// seen their files, which git writes anew when it only looks. What can't be read as
// entries counts as a whole.
func stagedIn(b []byte) string {
	for _, size := range []int{sha1.Size, sha256.Size} {
		if h, ok := entriesOf(b, size); ok {
			return h
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// entriesOf is stagedIn for names of objects of so many bytes.
func entriesOf(b []byte, size int) (sum string, ok bool) {
	if len(b) < stagedHead+size || string(b[:4]) != stagedMagic {
		return "", false
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return "", false
	}
	h, rest := sha256.New(), b[stagedHead:len(b)-size]
	for range n {
		head := stagedStat + size + 2
		if len(rest) < head {
			return "", false
		}
		if rest[head-2]&0x40 != 0 && version > 2 { // more flags
			head += 2
		}
		end := bytes.IndexByte(rest[min(head, len(rest)):], 0)
		if version == 4 { // a number of variable length stands before the name, and its last byte has no high bit
			at := head
			for at < len(rest) && rest[at]&0x80 != 0 {
				at++
			}
			at = min(at+1, len(rest))
			if end = bytes.IndexByte(rest[at:], 0); end >= 0 {
				end += at - head
			}
		}
		if end < 0 {
			return "", false
		}
		long := head + end + 1
		if version < 4 {
			long = (head + end + 8) / 8 * 8
		}
		if long > len(rest) {
			return "", false
		}
		h.Write(rest[24:28]) // the mode
		h.Write(rest[stagedStat : head+end+1])
		rest = rest[long:]
	}
	for len(rest) >= 8 { // a shared index holds more
		if string(rest[:4]) == "link" {
			return "", false
		}
		long := 8 + int(binary.BigEndian.Uint32(rest[4:]))
		if long > len(rest) {
			return "", false
		}
		rest = rest[long:]
	}
	return fmt.Sprintf("%x", h.Sum(nil)), len(rest) == 0
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
