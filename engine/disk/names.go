package disk

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"gemline/engine/text"
)

// SameName reports whether the names name and guarded may denote the same file. Both are single
// elements of a path.
func SameName(name, guarded string) bool { return SameFoldedName(FoldName(name), guarded) }

// SameFoldedName is [SameName] for a folded name.
func SameFoldedName(folded, guarded string) bool {
	guarded = FoldName(guarded)
	return folded == guarded || strings.Contains(folded, "~") && shortName(folded, guarded)
}

// FoldName returns a canonical spelling of name: all names, except 8.3 names, that may denote the
// same file have the same spelling. For a stream of a file it returns the file's name.
func FoldName(name string) string {
	if !text.IsASCII(name) {
		name = strings.Map(func(r rune) rune {
			if invisible(r) {
				return -1
			}
			return r
		}, name)
		// Some characters fold to characters that compose again.
		name = norm.NFKC.String(lower(norm.NFKC.String(name)))
	}
	name = lower(name)
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	return cmp.Or(strings.TrimRight(name, ". "), name)
}

// lower folds case by way of upper case, since some equivalent letters share only their capital.
func lower(name string) string {
	if text.IsASCII(name) {
		return strings.ToLower(name)
	}
	return strings.ReplaceAll(strings.ToLower(strings.ToUpper(name)), "ß", "ss")
}

// invisible reports whether file systems may ignore r, or people can't see it.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// shortName reports whether a folded name may be Windows' short name of the file called guarded.
// A short name has the first characters of guarded without dots, a tilde and a number; or two
// characters and four digits of a hash.
func shortName(name, guarded string) bool {
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
	// The longer the number, the fewer characters precede it.
	least := min(len(full), max(1, 7-len(number)))
	return len(stem) >= min(least, 6) && len(stem) <= 6 && strings.HasPrefix(full, stem)
}
