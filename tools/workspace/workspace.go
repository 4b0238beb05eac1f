package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Config says what belongs to a Workspace.
type Config struct {
	Roots []string // directories; the first is the working directory
	Temp  string   // a directory outside the roots that may be used too, or ""

	// Overlay, if not nil, takes what is written instead of the disk.
	Overlay *Overlay

	RespectGit    bool     // pass over what .gitignore names
	RespectGemini bool     // pass over what .geminiignore names
	IgnoreFiles   []string // more ignore files, relative to each root; the first is the strongest, and all beat the others
}

// A Workspace is a set of directories that may be worked in. It is safe for
// concurrent use.
type Workspace struct {
	temp  string // real path, or ""
	rules Rules
	extra []string
	over  *Overlay

	mu    sync.RWMutex
	roots []string // real paths
}

// New returns the Workspace that cfg describes. All roots must exist; the
// temporary directory need not yet.
func New(cfg Config) (*Workspace, error) {
	w := &Workspace{
		rules: Rules{Git: cfg.RespectGit, Gemini: cfg.RespectGemini},
		extra: slices.Clone(cfg.IgnoreFiles),
		over:  cfg.Overlay,
	}
	if len(cfg.Roots) == 0 {
		return nil, fmt.Errorf("a workspace needs a directory")
	}
	for _, dir := range cfg.Roots {
		if err := w.Add(dir); err != nil {
			return nil, err
		}
	}
	if cfg.Temp != "" {
		abs, err := filepath.Abs(cfg.Temp)
		if err != nil {
			return nil, err
		}
		if w.temp, err = follow(abs); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Add makes dir another root, unless it is one already.
func (w *Workspace) Add(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: ErrNoDirectory}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.roots, real) {
		w.roots = append(slices.Clip(w.roots), real)
	}
	return nil
}

// Roots returns the real paths of the roots, the working directory first.
func (w *Workspace) Roots() []string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Clone(w.roots)
}

// Temp returns the real path of the temporary directory, or "".
func (w *Workspace) Temp() string { return w.temp }

// Rel returns path as a user in the working directory would write it: with
// slashes and relative if it lies below, else absolute.
func (w *Workspace) Rel(path string) string {
	root := w.Roots()[0]
	if rel, ok := below(root, path); ok {
		return filepath.ToSlash(rel)
	}
	if real, err := follow(path); err == nil {
		if rel, ok := below(root, real); ok {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// Stat is [os.Stat], and Lstat is [os.Lstat], but see what was written to the
// Overlay. They are for the properties of a file: whether it may be touched is
// another question.
func (w *Workspace) Stat(path string) (fs.FileInfo, error) { return w.over.stat(path) }

// Lstat is [Workspace.Stat] for a link itself.
func (w *Workspace) Lstat(path string) (fs.FileInfo, error) { return w.over.lstat(path) }

// ReadDir returns the entries of the directory at path that may be touched, in
// no order. Its errors are those of [io/fs], an [*OutsideError] or
// [ErrNoDirectory].
func (w *Workspace) ReadDir(path string) ([]fs.DirEntry, error) {
	if _, err := w.real(path); err != nil {
		return nil, err
	}
	info, err := w.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, ErrNoDirectory
	}
	entries, err := w.over.list(path, true)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return Withheld(e.Name()) || e.Type()&fs.ModeSymlink != 0 && !w.Contains(filepath.Join(path, e.Name()))
	}), nil
}

// below returns path relative to dir, if it lies in it.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	prefix := dir
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	if caseless {
		if len(path) > len(prefix) && strings.EqualFold(path[:len(prefix)], prefix) {
			return path[len(prefix):], true
		}
		return "", false
	}
	return strings.CutPrefix(path, prefix)
}
