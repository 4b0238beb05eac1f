package workspace

import (
	"path/filepath"

	"gemline/engine/secret"
)

// Private reports whether the file at path, which is absolute, may hold secrets,
// by its name or by that of where it leads. Where the Workspace itself lies does
// not matter.
func (w *Workspace) Private(path string) bool {
	p, err := w.Place(path)
	return w.Suspect(path) || err == nil && w.Suspect(p.Path())
}

// Suspect is [Workspace.Private] for a path without a link.
func (w *Workspace) Suspect(path string) bool {
	root, rel := w.rootOf(path, nil)
	if root == nil {
		rel = filepath.Base(path)
	}
	return secret.Path(rel)
}
