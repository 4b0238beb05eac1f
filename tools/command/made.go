package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

const (
	mostGuarded   = 2000     // guarded files and directories that are compared
	largestKept   = 64 << 10 // bytes of a guarded file that can be put back
	mostKeptBytes = 4 << 20  // bytes of all guarded files
)

// A guardedFile is a file or directory that other programs obey.
type guardedFile struct {
	info fs.FileInfo
	top  string // the guarded path that is the file, or contains it
	text []byte // nil if it is not stored
}

// A guard compares guarded files before and after a command.
type guard struct {
	env    Tools
	known  *known
	line   string   // the command line
	writes []string // the paths that the line writes to, or has the right to write to; they were judged
	left   []int    // process ids that the command left in the background
}

// guard returns the guard for the call.
func (c shellCall) guard() guard {
	g := guard{env: c.env, known: c.known, line: c.args.Command, writes: slices.Clone(c.rights.Write)}
	for _, name := range c.read.Writes {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.dir, name)
		}
		g.writes = append(g.writes, filepath.Clean(name))
	}
	return g
}

// files returns the guarded files in the workspace, with their texts if keep is set. It
// reports false if a limit is exceeded. The limits apply before a command only, as the
// command itself may have made many files.
func (g guard) files(keep bool, mostNames, most int) (files map[string]guardedFile, ok bool) {
	var tops []string
	ok = g.known.walk(g.env.Workspace.Roots(), mostNames, func(at string, f folder) {
		for _, name := range f.guarded {
			tops = append(tops, filepath.Join(at, name))
		}
	})
	files, left := map[string]guardedFile{}, int64(mostKeptBytes)
	for _, top := range tops {
		filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error { // an unreadable file has no effect
			if err != nil {
				return nil
			}
			info, err := e.Info()
			if err != nil {
				return nil
			}
			if ok = ok && len(files) < most; !ok {
				return fs.SkipAll
			}
			f := guardedFile{info: info, top: top}
			if size := info.Size(); keep && info.Mode().IsRegular() && size <= min(largestKept, left) {
				if f.text, err = disk.Read(path, largestKept); err == nil {
					f.text = append([]byte{}, f.text...)
				}
				left -= size
			}
			files[path] = f
			return nil
		})
	}
	return files, ok
}

// changed reports whether a file was replaced, or its contents changed.
func (f guardedFile) changed(path string, now guardedFile) bool {
	switch {
	case f.info.IsDir() && now.info.IsDir(), disk.StatOf(f.info) == disk.StatOf(now.info):
		return false
	case f.text == nil || f.info.Mode() != now.info.Mode():
		return true
	}
	b, err := disk.Read(path, largestKept)
	return err != nil || !bytes.Equal(b, f.text)
}

// putBack renames the file at a path below a root, and puts back the earlier file. No link leads
// out of the root, and a link at the path is not followed.
func (f guardedFile) putBack(root *os.Root, rel string) error {
	if _, err := root.Lstat(rel); err == nil {
		if err := root.Rename(rel, aside(root, rel)); err != nil {
			return err
		}
	}
	if f.text == nil {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = file.Write(f.text)
	return errors.Join(err, file.Chmod(f.info.Mode().Perm()), file.Close())
}

// putBack renames the files that were made or changed, and puts back the earlier files.
func (g guard) putBack(made []string, before map[string]guardedFile) (err error) {
	for _, dir := range g.env.Workspace.Roots() {
		root, oerr := os.OpenRoot(dir)
		if oerr != nil {
			err = errors.Join(err, oerr)
			continue
		}
		for _, path := range made {
			if rel, rerr := filepath.Rel(dir, path); rerr == nil && filepath.IsLocal(rel) {
				err = errors.Join(err, before[path].putBack(root, rel))
			}
		}
		root.Close()
	}
	return err
}

// made returns the guarded files that were made, changed or removed, except files that the
// command line names: these were judged. whole says that every earlier file can be put back.
func (g guard) made(before, after map[string]guardedFile) (made []string, whole bool) {
	within := map[string]bool{}                            // new paths, and all below them
	for _, path := range slices.Sorted(maps.Keys(after)) { // a directory comes before its entries
		old, was := before[path]
		if within[path] = within[filepath.Dir(path)]; !within[path] && (!was || old.changed(path, after[path])) && !g.writesAll(path, after) {
			within[path] = true
			made = append(made, path)
		}
	}
	whole = true
	for path, old := range before {
		if _, there := after[path]; !there && old.text != nil && !g.writesAll(path, before) {
			made = append(made, path)
		}
		whole = whole && (old.text != nil || !slices.Contains(made, path))
	}
	slices.Sort(made)
	return made, whole
}

// describe lists guarded files in a message.
func (g guard) describe(paths []string) string {
	var names []string
	for _, path := range paths {
		names = append(names, text.Name(g.env.Workspace.Rel(path)))
	}
	what := "made or changed what other programs go by: " + strings.Join(names[:min(5, len(names))], ", ")
	if n := len(names) - 5; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return what
}

// checkLater checks the guarded files again when a background process of the command ends.
// If there is a user, a notice lists the changes, as the user may have made them. Otherwise
// the earlier files are put back.
func (g guard) checkLater(pid int, before map[string]guardedFile) {
	g.env.Launcher.Jobs.OnDone(pid, func() {
		after, _ := g.files(false, math.MaxInt, math.MaxInt)
		made, _ := g.made(before, after)
		if len(made) == 0 || g.env.Emit == nil {
			return
		}
		said := "while " + text.OneLine(g.line, 100) + " ran in the background, it or somebody else " + g.describe(made)
		if g.env.HasUser {
			g.env.Emit(said + "; look at it before you use it")
			return
		}
		said += "; the new files there have names that end in .put-aside and a number now"
		if err := g.putBack(made, before); err != nil {
			said = fmt.Sprintf("%s, as far as that is possible: %v", said, err)
		}
		g.env.Emit(said)
	})
}

// writesAll reports whether the command line, which was judged, names a written guarded
// file, or all files of a directory that it makes.
func (g guard) writesAll(path string, after map[string]guardedFile) bool {
	named := func(path, top string) bool {
		return slices.ContainsFunc(g.writes, func(name string) bool {
			return disk.Inside(top, name) && disk.Inside(name, path)
		})
	}
	top, files := after[path].top, 0
	if !after[path].info.IsDir() {
		return named(path, top)
	}
	for below, f := range after {
		if disk.Inside(path, below) && !f.info.IsDir() {
			if files++; !named(below, top) {
				return false
			}
		}
	}
	return files > 0 || named(path, top)
}

// aside returns an unused name in the directory of rel.
func aside(root *os.Root, rel string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.put-aside-%d", strings.TrimPrefix(filepath.Base(rel), "."), n)
		to := filepath.Join(filepath.Dir(rel), name)
		if _, err := root.Lstat(to); err != nil {
			return to
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
