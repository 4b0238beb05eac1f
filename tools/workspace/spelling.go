package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"gemline/engine/text"
)

// DiskSpelling returns name as the disk spells it: with the home directory for a leading ~/,
// and with accents composed as on the disk, as macOS and its archives decompose them. An
// existing name is unchanged, and so is the part of a name that does not exist in any
// spelling.
func DiskSpelling(w *Workspace, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && !w.Exists(w.abs("~")) {
		if home, err := os.UserHomeDir(); err == nil {
			name = filepath.Join(home, rest)
		}
	}
	if text.IsASCII(name) || w.Exists(w.abs(name)) {
		return name
	}
	parts := strings.Split(filepath.ToSlash(name), "/")
	at := ""
	if filepath.IsAbs(name) {
		at, parts = filepath.VolumeName(name)+"/", parts[1:]
	}
	for i, part := range parts {
		next := filepath.Join(at, part)
		if part != "" && !text.IsASCII(part) && !w.Exists(w.abs(next)) {
			found := sibling(w, w.abs(at), func(other string) bool { return norm.NFC.String(other) == norm.NFC.String(part) })
			if found == "" {
				return filepath.Join(append([]string{at}, parts[i:]...)...)
			}
			next = filepath.Join(at, found)
		}
		at = next
	}
	return at
}

// Hint returns the file probably meant by name, which does not exist: a file with the name
// in another case, "" if there is none.
func Hint(w *Workspace, name string) string {
	path := w.abs(name)
	found := sibling(w, filepath.Dir(path), func(other string) bool {
		return strings.EqualFold(norm.NFC.String(other), norm.NFC.String(filepath.Base(path)))
	})
	if found == "" {
		return ""
	}
	return w.Rel(filepath.Join(filepath.Dir(path), found))
}

// sibling returns the first entry of a directory whose name is wanted, "" if there is none.
func sibling(w *Workspace, dir string, wanted func(name string) bool) string {
	entries, err := w.ReadDir(dir)
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		if wanted(e.Name()) && (found == "" || e.Name() < found) {
			found = e.Name()
		}
	}
	return found
}

// BracketNames returns a pattern below dir in which brackets of existing folders, such as
// [id], are escaped. Behind a wildcard, existence is unknown; there, all decides.
func BracketNames(w *Workspace, dir, pattern string, all bool) string {
	if !strings.Contains(pattern, "[") {
		return pattern
	}
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	for i, part := range parts {
		known := dir != ""
		if known {
			_, err := w.Lstat(filepath.Join(dir, part))
			known = err == nil
		}
		if strings.Contains(part, "[") && (known || all && !strings.ContainsAny(part, "*?\\")) {
			parts[i] = EscapeGlob(part)
		}
		if dir = filepath.Join(dir, part); !known {
			dir = ""
		}
	}
	return strings.Join(parts, "/")
}

// EscapeGlob returns the pattern that matches s only.
func EscapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(s)
}
