package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/engine/charset"
	"gemline/engine/disk"
)

// Config says what belongs to a Workspace.
type Config struct {
	Roots []string // directories; the first is the working directory
	Temp  string   // a directory outside the roots that may be used too, or ""

	// File is a file outside of all these that may be used too, or "": where its
	// directory is there.
	File string

	// Overlay, if not nil, takes what is written instead of the disk.
	Overlay *Overlay

	// Editor has files open that are worked with.
	Editor Editor

	// Ledger, if not nil, notes which files are being written.
	Ledger *disk.Ledger

	// Secrets, if not nil, returns files and directories that may hold secrets,
	// whatever their names; it is called when that is first asked.
	Secrets func() []string

	// Charsets decodes texts.
	Charsets charset.Decoder

	RespectGit    bool     // pass over what .gitignore names
	RespectGemini bool     // pass over what .geminiignore names
	IgnoreFiles   []string // more ignore files, relative to each root; the first is the strongest, and all beat the others
}

// A Workspace is a set of directories that may be worked in. It is safe for
// concurrent use.
type Workspace struct {
	temp  string // real path, or ""
	file  string // real path, or ""
	rules Rules
	extra []string
	over  *Overlay

	charsets charset.Decoder

	editor  Editor
	ledger  *disk.Ledger
	secrets func() map[string]bool

	mu      sync.RWMutex
	roots   []*disk.Dir // opened at their real paths
	tempNow *disk.Dir   // at temp; nil if it did not exist at the last lookup
	fileDir *disk.Dir   // the directory of file; nil until needed
	lent    []*disk.Dir // further readable directories, opened at their real paths; with duplicates
}

// New returns the Workspace that cfg describes. All roots must exist; the
// temporary directory need not yet.
func New(cfg Config) (*Workspace, error) {
	w := &Workspace{
		rules: Rules{Git: cfg.RespectGit, Gemini: cfg.RespectGemini},
		extra: slices.Clone(cfg.IgnoreFiles),
		over:  cfg.Overlay,

		charsets: cfg.Charsets,

		editor: cfg.Editor,
		ledger: cfg.Ledger,
		secrets: sync.OnceValue(func() map[string]bool {
			all := map[string]bool{}
			if cfg.Secrets != nil {
				for _, path := range cfg.Secrets() {
					all[path] = true
				}
			}
			return all
		}),
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
		if w.temp, err = w.follow(abs); err != nil {
			return nil, err
		}
	}
	if cfg.File != "" {
		w.file, _ = w.follow(cfg.File) // else it can't be used
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
	if slices.ContainsFunc(w.roots, func(d *disk.Dir) bool { return d.Path() == real }) {
		return nil
	}
	d, err := disk.OpenDir(real)
	if err == nil {
		w.roots = append(slices.Clip(w.roots), d)
	}
	return err
}

// Roots returns the real paths of the roots, the working directory first.
func (w *Workspace) Roots() []string {
	dirs := w.dirs()
	paths := make([]string, len(dirs))
	for i, d := range dirs {
		paths[i] = d.Path()
	}
	return paths
}

func (w *Workspace) dirs() []*disk.Dir {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.roots
}

// rootOf returns the innermost root that holds path, and the path relative to the root. It
// skips a root if may, if not nil, rejects the relative path.
func (w *Workspace) rootOf(path string, may func(rel string) bool) (root *disk.Dir, rel string) {
	for _, d := range w.dirs() {
		if p, in := below(d.Path(), path); in &&
			(root == nil || len(d.Path()) > len(root.Path())) && (may == nil || may(p)) {
			root, rel = d, p
		}
	}
	return root, rel
}

// dirOf is rootOf, but counts the temporary directory as well.
func (w *Workspace) dirOf(path string) (dir *disk.Dir, rel string) {
	dir, rel = w.rootOf(path, nil)
	if w.temp == "" || dir != nil && len(dir.Path()) > len(w.temp) {
		return dir, rel
	}
	if p, in := below(w.temp, path); in {
		if temp := w.tempDir(); temp != nil {
			return temp, p
		}
	}
	return dir, rel
}

// dirOfFile returns the directory of the file outside, nil if it is not there.
func (w *Workspace) dirOfFile() *disk.Dir {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fileDir == nil || w.fileDir.Gone() {
		w.fileDir, _ = disk.OpenDir(filepath.Dir(w.file))
	}
	return w.fileDir
}

// tempDir returns the temporary directory, nil if it is not there. It may have
// been made, or made again, since it was last asked for.
func (w *Workspace) tempDir() *disk.Dir {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tempNow == nil || w.tempNow.Gone() {
		w.tempNow = nil
		// It may be made by whoever works there, so a link is not followed.
		info, err := os.Lstat(w.temp)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil
		}
		d, err := disk.OpenDir(w.temp)
		if err != nil {
			return nil
		}
		if !d.Is(info) {
			d.Close()
			return nil
		}
		w.tempNow = d
	}
	return w.tempNow
}

// makeTemp is tempDir, but makes it.
func (w *Workspace) makeTemp() (*disk.Dir, error) {
	if err := os.MkdirAll(w.temp, 0o700); err != nil {
		return nil, err
	}
	if d := w.tempDir(); d != nil {
		return d, nil
	}
	return nil, &fs.PathError{Op: "open", Path: w.temp, Err: fs.ErrNotExist}
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
	if real, err := w.follow(path); err == nil {
		if rel, ok := below(root, real); ok {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// Stat describes the file that path leads to, with what was written to the
// Overlay. Its errors are those of [io/fs], an [*OutsideError], a [*GoneError]
// or [ErrMoved].
func (w *Workspace) Stat(path string) (info fs.FileInfo, err error) {
	err = w.at(path, func(p Place) (err error) {
		info, err = p.stat()
		return err
	})
	if err == nil && info.Name() != filepath.Base(path) {
		info = named{info, filepath.Base(path)}
	}
	return info, err
}

// There reports whether something lies at path, be it outside.
func (w *Workspace) There(path string) bool {
	if _, err := w.Lstat(path); err == nil {
		return true
	}
	_, err := os.Lstat(path)
	return err == nil
}

// Lstat is [Workspace.Stat] for what may be a link itself.
func (w *Workspace) Lstat(path string) (info fs.FileInfo, err error) {
	if dir, rel := w.rootOf(path, nil); dir != nil && rel == "." {
		return w.Stat(path)
	}
	err = w.at(filepath.Dir(path), func(p Place) (err error) {
		info, err = p.below(filepath.Base(path)).lstat()
		return err
	})
	return info, err
}

// ReadDir returns the entries of the directory at path that may be touched, in
// no order. Their Info is not to be used. Its errors are those of
// [Workspace.Stat] and [ErrNoDirectory].
func (w *Workspace) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = w.at(path, func(p Place) error {
		info, err := p.stat()
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return ErrNoDirectory
		}
		entries, err = p.list()
		return err
	})
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
