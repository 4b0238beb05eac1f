package workspace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"gemline/engine/charset"
	"gemline/engine/disk"
)

// maxEditorConfig is the size of the largest .editorconfig that is read.
const maxEditorConfig = 1 << 16

// editorConfig returns the charset that the nearest .editorconfig above path gives the file,
// or "". Only files of the workspace are read.
func editorConfig(w *Workspace, path string) string {
	for dir := range disk.Upward(filepath.Dir(path)) {
		if !w.Contains(dir) {
			break
		}
		if b, _, err := w.ReadBytes(filepath.Join(dir, ".editorconfig"), maxEditorConfig); err == nil {
			rel, _ := filepath.Rel(dir, path)
			if named, root := configured(string(b), filepath.ToSlash(rel)); named != "" || root {
				return charset.Name(named)
			}
		}
	}
	return ""
}

// configured returns the charset that an .editorconfig gives the file at path, relative to
// it, "" if none, and whether no file above it counts.
func configured(config, path string) (named string, root bool) {
	section, matches := false, false
	for line := range strings.Lines(strings.TrimPrefix(config, "\ufeff")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if glob, ok := strings.CutPrefix(line, "["); ok {
			if i := strings.LastIndexByte(glob, ']'); i >= 0 {
				section, matches = true, sectionMatches(glob[:i], path)
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value, _, _ = strings.Cut(value, " #")
		value, _, _ = strings.Cut(value, " ;")
		value = strings.ToLower(strings.TrimSpace(value))
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case key == "root" && !section:
			root = value == "true"
		case key == "charset" && matches:
			named = value
		}
	}
	return named, root
}

// sectionMatches reports whether the section name of an .editorconfig matches path.
func sectionMatches(glob, path string) bool {
	if rest, ok := strings.CutPrefix(glob, "/"); ok {
		glob = rest
	} else if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	ok, err := doublestar.Match(glob, path)
	return ok && err == nil
}

// To find a new file's charset, at most maxBeside neighbouring files of at most
// maxBesideSize bytes are read, until enoughBeside are found.
const maxBeside, maxBesideSize, enoughBeside = 64, 1 << 16, 16

// beside returns the texts of path's neighbours that are not UTF-8, files with the same
// extension first.
func beside(w *Workspace, path string) (texts [][]byte) {
	entries, err := w.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	ext := filepath.Ext(path)
	other := func(name string) int {
		if filepath.Ext(name) == ext {
			return 0
		}
		return 1
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != filepath.Base(path) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(other(a)-other(b), strings.Compare(a, b)) })
	for _, name := range names[:min(len(names), maxBeside)] {
		b, _, err := w.ReadBytes(filepath.Join(filepath.Dir(path), name), maxBesideSize)
		if err == nil && !utf8.Valid(b) {
			if texts = append(texts, b); len(texts) == enoughBeside {
				break
			}
		}
	}
	return texts
}
