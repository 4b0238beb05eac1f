// Package alike tells which names of files may name one file.
//
// To some file systems names are the same that differ in case, in how their
// characters are composed, in characters nobody sees, or in dots and blanks at
// the end; to some, a file has a short name beside its own. Whoever guards a
// name guards it under all of them, on every system: a directory of another
// system may be mounted anywhere. Nothing here decodes what no file system
// decodes, such as %2e.
package alike

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Same reports whether a file called name may be the one called guarded, which
// is one element of a path, too.
func Same(name, guarded string) bool { return same(Fold(name), Fold(guarded)) }

// SameFolded is [Same] for a name that was folded already.
func SameFolded(folded, guarded string) bool { return same(folded, Fold(guarded)) }

func same(name, guarded string) bool {
	return name == guarded || strings.Contains(name, "~") && short(name, guarded)
}

// Fold returns the one spelling of all names that may name the file called
// name, but for short ones. Of a stream of a file it returns the file.
func Fold(name string) string {
	if !ascii(name) {
		name = strings.Map(func(r rune) rune {
			if unseen(r) {
				return -1
			}
			return r
		}, name)
		// Some characters fold to others that compose anew.
		name = norm.NFKC.String(lower(norm.NFKC.String(name)))
	}
	name = lower(name)
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	if cut := strings.TrimRight(name, ". "); cut != "" {
		return cut
	}
	return name
}

func ascii(name string) bool {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower folds case: by way of upper case, since some letters have no other way
// to the one they are taken for.
func lower(name string) string {
	if ascii(name) {
		return strings.ToLower(name)
	}
	return strings.ReplaceAll(strings.ToLower(strings.ToUpper(name)), "ß", "ss")
}

// unseen reports whether file systems may pass over r, or people do.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// short reports whether a folded name is one that Windows may give to the file
// called guarded beside its own: the first characters of that without dots, a
// tilde and a number, or two of them and four digits of a hash.
func short(name, guarded string) bool {
	stem, rest, ok := strings.Cut(name, "~")
	number, ext, _ := strings.Cut(rest, ".")
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	full, end := strings.TrimLeft(guarded, "."), ""
	if i := strings.LastIndexByte(full, '.'); i > 0 {
		full, end = full[:i], full[i+1:]
	}
	if ext != end[:min(3, len(end))] {
		return false
	}
	full = strings.Map(func(r rune) rune {
		if r == '.' || r == ' ' {
			return -1
		}
		return r
	}, full)
	if len(stem) == 6 && len(full) >= 2 && stem[:2] == full[:2] && strings.Trim(stem[2:], "0123456789abcdef") == "" {
		return true
	}
	// The more digits the number has, the fewer characters come before it.
	least := min(len(full), max(1, 7-len(number)))
	return len(stem) >= min(least, 6) && len(stem) <= 6 && strings.HasPrefix(full, stem)
}
