package workspace

import (
	"path/filepath"
	"slices"

	"gemline/engine/disk"
)

// Lend lets the tools read files below dir, which is no root, until release is called. It
// permits no writes, and links out of dir are not followed.
func (w *Workspace) Lend(dir string) (release func(), err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	d, err := disk.OpenDir(real)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lent = append(slices.Clip(w.lent), d)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lent = slices.DeleteFunc(slices.Clone(w.lent), func(o *disk.Dir) bool { return o == d })
		d.Close()
	}, nil
}

// lentAt returns the lent directory that holds a real path, nil if none does.
func (w *Workspace) lentAt(real string) (dir *disk.Dir, rel string) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	for _, d := range w.lent {
		if rel, in := below(d.Path(), real); in && !withheldIn(rel) {
			return d, rel
		}
	}
	return nil, ""
}
