package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Spelled returns name as the file that it means is called: with the home directory in the
// place of a leading ~/, and with letters composed as the disk has them, since macOS and
// archives from there take accents apart. A name that is there as it stands stays as it is,
// and so does the rest of one of which a beginning is there.
func (w *Workspace) Spelled(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && !w.There(w.abs("~")) {
		if home, err := os.UserHomeDir(); err == nil {
			name = filepath.Join(home, rest)
		}
	}
	if isASCII(name) || w.There(w.abs(name)) {
		return name
	}
	parts := strings.Split(filepath.ToSlash(name), "/")
	at := ""
	if filepath.IsAbs(name) {
		at, parts = filepath.VolumeName(name)+"/", parts[1:]
	}
	for i, part := range parts {
		next := filepath.Join(at, part)
		if part != "" && !isASCII(part) && !w.There(w.abs(next)) {
			found := w.sibling(w.abs(at), func(other string) bool { return norm.NFC.String(other) == norm.NFC.String(part) })
			if found == "" {
				return filepath.Join(append([]string{at}, parts[i:]...)...)
			}
			next = filepath.Join(at, found)
		}
		at = next
	}
	return at
}

// Hint returns what name was probably meant to be, which is not there: the file that is
// called so in another case. It is "" if there is none.
func (w *Workspace) Hint(name string) string {
	path := w.abs(name)
	found := w.sibling(filepath.Dir(path), func(other string) bool {
		return strings.EqualFold(norm.NFC.String(other), norm.NFC.String(filepath.Base(path)))
	})
	if found == "" {
		return ""
	}
	return w.Rel(filepath.Join(filepath.Dir(path), found))
}

// sibling returns the first entry of a directory whose name is wanted, "" if there is none.
func (w *Workspace) sibling(dir string, wanted func(name string) bool) string {
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

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// BracketNames returns a pattern below dir in which folders such as [id], that are there,
// are names and no sets of letters. Behind a wildcard it is not known whether they are:
// then all is true if they are to be.
func (w *Workspace) BracketNames(dir, pattern string, all bool) string {
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
