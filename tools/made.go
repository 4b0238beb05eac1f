package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

const (
	mostGuarded   = 2000     // guarded files and directories that are compared
	largestKept   = 64 << 10 // bytes of a guarded file that can be put back
	mostKeptBytes = 4 << 20  // bytes of all of them
)

// A guardedFile is a file or directory that other programs go by.
type guardedFile struct {
	info fs.FileInfo
	top  string // the guarded name that it has, or is below
	text []byte // nil if it is not kept
}

// guarded returns what is guarded in the workspace, with the texts if keep is set. It reports
// false if nothing confines commands, or there is too much to look at.
func (env Env) guarded(k *known, keep bool) (files map[string]guardedFile, ok bool) {
	var tops []string
	ok = k.walk(env.Workspace.Roots(), func(at string, f folder) {
		for _, name := range f.guarded {
			tops = append(tops, filepath.Join(at, name))
		}
	})
	files, left := map[string]guardedFile{}, int64(mostKeptBytes)
	for _, top := range tops {
		filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error { // what can't be read is not obeyed
			if err != nil {
				return nil
			}
			info, err := e.Info()
			if err != nil {
				return nil
			}
			if ok = ok && len(files) < mostGuarded; !ok {
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

// changed reports whether a file is another one than before, or holds something else.
func (f guardedFile) changed(path string, now guardedFile) bool {
	switch {
	case f.info.IsDir() && now.info.IsDir(), f.info.Size() == now.info.Size() && f.info.ModTime().Equal(now.info.ModTime()) && os.SameFile(f.info, now.info):
		return false
	case f.text == nil || f.info.Mode() != now.info.Mode():
		return true
	}
	b, err := disk.Read(path, largestKept)
	return err != nil || !bytes.Equal(b, f.text)
}

// putBack gives a file that was changed another name, and puts back what was there.
func (f guardedFile) putBack(path string) error {
	err := os.Rename(path, aside(path))
	if err == nil && f.text != nil {
		err = os.WriteFile(path, f.text, f.info.Mode().Perm())
	}
	return err
}

// checked runs a command. What is guarded and was made or changed is asked about, and gets
// another name if it is not to be, unless the command line names it: then it was judged.
func (c shellCall) checked(ctx context.Context, tool engine.Tool, host engine.Host,
	run func() (engine.Result, error)) (engine.Result, error) {
	if c.env.Guards == nil || c.env.Launcher == nil || c.env.Workspace == nil || !c.env.State().Files {
		return run()
	}
	before, ok := c.env.guarded(c.known, true)
	r, err := run()
	after, still := c.env.guarded(c.known, false)
	if !ok || !still {
		if !c.known.unchecked {
			c.known.unchecked = true
			host.Emit(engine.Notice{Text: "this folder is too large to find files that other programs obey, such as .github/workflows, after a command has made or changed them"})
		}
		return r, err
	}
	var made []string
	for _, path := range slices.Sorted(maps.Keys(after)) { // a directory comes before what is in it
		old, was := before[path]
		inNew := slices.ContainsFunc(made, func(dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) })
		if !inNew && (!was || old.changed(path, after[path])) && !c.writesAll(path, after) {
			made = append(made, path)
		}
	}
	if len(made) == 0 {
		return r, err
	}
	var names []string
	for _, path := range made {
		names = append(names, text.Name(c.env.Workspace.Rel(path)))
	}
	what := "it made what other programs go by: " + strings.Join(names[:min(5, len(names))], ", ")
	if n := len(names) - 5; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	in := c.intent()
	in.Plan.Writes = append(slices.Clip(in.Plan.Writes), made...)
	in.Plan.Undoable, in.Grants, in.Draft, in.Plan.Online, in.Plan.ReadOnly = false, nil, nil, nil, nil
	q := engine.Proposal{Tool: tool, Args: c.args(), Intent: in}
	if c.env.Gives != nil && c.env.Gives(ctx, q) { // as in yolo, where the command may name them unasked, too
		return r, err
	}
	q.Intent.Plan.Failed = what
	answer, aerr := host.Approve(ctx, q)
	if _, yes := answer.(engine.Allowed); yes && aerr == nil {
		return r, err
	}
	for _, path := range made {
		aerr = errors.Join(aerr, before[path].putBack(path))
	}
	if aerr != nil {
		return r, errors.Join(err, aerr)
	}
	if err == nil {
		err = &engine.CallError{Type: shellError, Display: "failed", Message: r.Text}
	}
	return denied(r, err, answer, "The command was done, but "+what+". That got other names, which end in .put-aside and a number, since it was not allowed; files that it changed are as they were.", what)
}

// writesAll reports whether the command line names a guarded file that it writes to, or all
// files of a directory that it makes, which were judged by their names.
func (c shellCall) writesAll(path string, after map[string]guardedFile) bool {
	named := func(path, top string) bool {
		return slices.ContainsFunc(c.read.Writes, func(name string) bool {
			if !filepath.IsAbs(name) {
				name = filepath.Join(c.dir, name)
			}
			name = filepath.Clean(name)
			return disk.Inside(top, name) && disk.Inside(name, path)
		})
	}
	top, files := after[path].top, 0
	for below, f := range after {
		if disk.Inside(path, below) && !f.info.IsDir() {
			if files++; !named(below, top) {
				return false
			}
		}
	}
	return files > 0 || named(path, top)
}

// aside returns a name beside path that nothing has.
func aside(path string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.put-aside-%d", strings.TrimPrefix(filepath.Base(path), "."), n)
		if to := filepath.Join(filepath.Dir(path), name); !exists(to) {
			return to
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
