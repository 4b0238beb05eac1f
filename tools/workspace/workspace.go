package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gemline/engine/charset"
	"gemline/engine/disk"
)

// A Config holds the parts of a Workspace.
type Config struct {
	Roots []string // directories; the first is the working directory
	Temp  string   // an additional directory outside of the roots, or ""

	// File is an additional file outside of the roots and Temp, or "". It is accessible if
	// its directory exists.
	File string

	// Overlay, if not nil, takes writes instead of the disk.
	Overlay *Overlay

	// Editor has files open for the user.
	Editor Editor

	// Ledger, if not nil, records the files that are being written.
	Ledger *disk.Ledger

	// Secrets, if not nil, returns files and directories that may hold secrets under any
	// name. It is called on first use.
	Secrets func() []string

	// Charsets decodes texts.
	Charsets charset.Decoder

	RespectGit    bool     // respect .gitignore
	RespectGemini bool     // respect .geminiignore
	IgnoreFiles   []string // more ignore files, relative to each root; the first is the strongest, and all beat the others
}

// A Workspace is a set of accessible directories. It is safe for concurrent use.
type Workspace struct {
	Ignore *Ignore

	dirs    *dirs
	Overlay *Overlay // takes writes instead of the disk, may be nil

	charsets charset.Decoder

	editor  Editor
	ledger  *disk.Ledger
	secrets func() map[string]bool
}

// New returns a Workspace. All roots must exist; the temporary directory need not exist yet.
func New(cfg Config) (*Workspace, error) {
	ds := &dirs{}
	w := &Workspace{
		Ignore: &Ignore{
			Rules: Rules{Git: cfg.RespectGit, Gemini: cfg.RespectGemini},
			dirs:  ds,
			over:  cfg.Overlay,
			extra: slices.Clone(cfg.IgnoreFiles),
		},
		dirs:    ds,
		Overlay: cfg.Overlay,

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
		if err := ds.add(dir); err != nil {
			return nil, err
		}
	}
	if cfg.Temp != "" {
		abs, err := filepath.Abs(cfg.Temp)
		if err != nil {
			return nil, err
		}
		if ds.temp, err = ds.follow(abs); err != nil {
			return nil, err
		}
	}
	if cfg.File != "" {
		ds.file, _ = ds.follow(cfg.File) // on failure, the file is not accessible
	}
	return w, nil
}

// Add makes dir another root, unless it is one already.
func (w *Workspace) Add(dir string) error { return w.dirs.add(dir) }

// Lend lets the tools read files below dir, which is no root, until release is called. It
// permits no writes, and links out of dir are not followed.
func (w *Workspace) Lend(dir string) (release func(), err error) { return w.dirs.lend(dir) }

// Roots returns the real paths of the roots, the working directory first.
func (w *Workspace) Roots() []string { return w.dirs.paths() }

// Temp returns the real path of the temporary directory, or "".
func (w *Workspace) Temp() string { return w.dirs.temp }

// Rel returns path as a user in the working directory would write it: with
// slashes and relative if it lies below, else absolute.
func (w *Workspace) Rel(path string) string {
	root := w.Roots()[0]
	if rel, ok := below(root, path); ok {
		return filepath.ToSlash(rel)
	}
	if real, err := w.dirs.follow(path); err == nil {
		if rel, ok := below(root, real); ok {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// Stat describes the file that path leads to, with the files written to the
// Overlay. Its errors are those of [io/fs], an [*OutsideError], a [*GoneError]
// or [ErrMoved].
func (w *Workspace) Stat(path string) (info fs.FileInfo, err error) {
	err = w.at(path, func(p ResolvedPath) (err error) {
		info, err = p.stat()
		return err
	})
	if err == nil && info.Name() != filepath.Base(path) {
		info = named{info, filepath.Base(path)}
	}
	return info, err
}

// Exists reports whether path exists, also outside of the workspace.
func (w *Workspace) Exists(path string) bool {
	if _, err := w.Lstat(path); err == nil {
		return true
	}
	_, err := os.Lstat(path)
	return err == nil
}

// Lstat is [Workspace.Stat] for a path that may be a link itself.
func (w *Workspace) Lstat(path string) (info fs.FileInfo, err error) {
	if dir, rel := w.dirs.rootOf(path, nil); dir != nil && rel == "." {
		return w.Stat(path)
	}
	err = w.at(filepath.Dir(path), func(p ResolvedPath) (err error) {
		info, err = p.below(filepath.Base(path)).lstat()
		return err
	})
	return info, err
}

// ReadDir returns the entries of the directory at path that may be touched, in no order.
// Their Info must not be used. Its errors are those of [Workspace.Stat] and
// [ErrNoDirectory].
func (w *Workspace) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = w.at(path, func(p ResolvedPath) error {
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
		return IsWithheld(e.Name()) || e.Type()&fs.ModeSymlink != 0 && !w.Contains(filepath.Join(path, e.Name()))
	}), nil
}
