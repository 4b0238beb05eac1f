package workspace

import (
	"path/filepath"

	"gemline/engine/secret"
)

// Private reports whether the file at path, which is absolute, may hold secrets: by its
// name, by the name of its target, or because [Config.Secrets] names it. The path of the
// Workspace itself does not matter.
func (w *Workspace) Private(path string) bool {
	p, err := w.Locate(path)
	return w.Suspect(path) || err == nil && w.Suspect(p.Path())
}

// Suspect is [Workspace.Private] for a path without a link.
func (w *Workspace) Suspect(path string) bool {
	root, rel := w.dirs.rootOf(path, nil)
	if root == nil {
		return secret.Path(filepath.Base(path)) || w.secrets()[path]
	}
	if secret.Path(rel) {
		return true
	}
	for known := w.secrets(); len(path) > len(root.Path()); path = filepath.Dir(path) {
		if known[path] {
			return true
		}
	}
	return false
}
