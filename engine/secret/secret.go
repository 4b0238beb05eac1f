// Package secret recognizes, by name, files in which people and programs store credentials: keys,
// passwords, tokens, and histories, in which passwords end up.
//
// # One table
//
// All code that reads, searches, shows or hides files uses this table. An entry is a program, the
// names of its files anywhere, and their places below the home directory, unless a variable moves
// them. A name is a hint and no proof: the user is asked about such a file.
package secret

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

// Path reports whether a path, or a directory on its way, has a name that may stand for a secret.
// Names are equal if any file system treats them as equal.
func Path(name string) bool {
	name = filepath.ToSlash(name)
	source := isSource(name[strings.LastIndexByte(name, '/')+1:])
	for more := true; more; {
		var part string
		if part, name, more = strings.Cut(name, "/"); part != "" &&
			named(part, !more || strings.Trim(name, "/") == "", source) {
			return true
		}
	}
	return false
}

// isSource reports whether name is that of a source file.
func isSource(name string) bool {
	if dot := strings.LastIndexByte(name, '.'); dot <= 0 || name[0] == '.' || !sources[strings.ToLower(name[dot:])] {
		return false
	}
	return sources[path.Ext(disk.FoldName(name))] // and no stream of another file
}

// named reports whether an element of a path has the name of a secret. Last says that it is the
// last element, and source that the path is a source file's.
func named(part string, last, source bool) bool {
	if lower := strings.ToLower(part); fits(lower, last, source) {
		return true
	} else if plainly(lower) {
		return false
	}
	fold := disk.FoldName(part)
	return fits(fold, last, source) || strings.Contains(fold, "~") && slices.ContainsFunc(names, func(n string) bool {
		return !strings.Contains(n, "*") && disk.SameFoldedName(fold, n)
	})
}

// plainly reports whether a name in lower case has one spelling only.
func plainly(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || c == ':' || c == '~' {
			return false
		}
	}
	end := name[len(name)-1]
	return end != '.' && end != ' '
}

// fits is [named] for a name in lower case.
func fits(part string, last, source bool) bool {
	if part == "" || !exact[part] && !isSecretDataFile(part) && !fit(begins[part[0]], part) && !fit(ends[part[len(part)-1]], part) {
		return false
	}
	is := func(pattern string) bool { return matchesName(pattern, part) }
	about := source && (last || slices.ContainsFunc(plain, is)) // a program that handles secrets
	return !about && !slices.ContainsFunc(harmless, is)
}

func fit(list []form, name string) bool {
	return slices.ContainsFunc(list, func(f form) bool { return f.fits(name) })
}

// isSecretDataFile reports whether name is one of the plain words with the extension of a data file.
func isSecretDataFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && slices.Contains(data, name[dot:]) &&
		slices.ContainsFunc(plain, func(p string) bool { return matchesName(p, name[:dot]) })
}

// Files returns the files and directories of secrets below the home directory and below gemline's
// own directory, or where variables place them. Commands must not access them.
func Files(home, own string, getenv func(string) string) (list []string) {
	if home != "" {
		for _, e := range table {
			for name := range strings.FieldsSeq(e.home) {
				list = append(list, below(home, name))
			}
		}
	}
	for _, move := range moves {
		variable, from, _ := strings.Cut(move, "=")
		for _, to := range filepath.SplitList(getenv(variable)) {
			to = filepath.Clean(to)
			if !filepath.IsAbs(to) || strings.HasPrefix(to, "/dev/") || to == below(home, from) {
				continue
			}
			const end = string(filepath.Separator)
			all := strings.HasPrefix(home+end, strings.TrimSuffix(to, end)+end) // more than a program's own
			list = append(list, moved(from, to, all)...)
		}
	}
	if own != "" {
		for name := range strings.FieldsSeq(ownFiles) {
			list = append(list, below(own, name))
		}
	}
	return list
}

// moved returns the secrets of the table below the directory from, with to in the place of from.
// If all is true, to contains the home directory and is no secret itself.
func moved(from, to string, all bool) (list []string) {
	for _, e := range table {
		for name := range strings.FieldsSeq(e.home) {
			if rest, ok := strings.CutPrefix(name+"/", from+"/"); ok && (rest != "" || !all) {
				list = append(list, below(to, rest))
			} else if strings.HasPrefix(from, name+"/") && !all {
				list = append(list, to)
			}
		}
	}
	return list
}

// names are the patterns of the table.
var names = func() (all []string) {
	for _, e := range table {
		all = append(all, strings.Fields(e.names)...)
	}
	for _, base := range plain {
		for _, ext := range data {
			all = append(all, base+ext)
		}
	}
	slices.Sort(all)
	return slices.Compact(append(all, "credentials", "secrets", "passwords"))
}()

// exact are the names without a star. Names with a star are indexed by the text before or
// after it: begins by the first byte, ends by the last.
var exact, begins, ends = func() (exact map[string]bool, begins, ends map[byte][]form) {
	exact, begins, ends = map[string]bool{}, map[byte][]form{}, map[byte][]form{}
	for _, n := range names {
		if slices.Contains(data, path.Ext(n)) &&
			slices.ContainsFunc(plain, func(p string) bool { return strings.HasPrefix(n, p) }) {
			continue // handled by isSecretDataFile
		}
		before, after, star := strings.Cut(n, "*")
		switch {
		case !star:
			exact[n] = true
		case before != "":
			begins[before[0]] = append(begins[before[0]], form{before, after})
		default:
			end := after[len(after)-1]
			ends[end] = append(ends[end], form{before, after})
		}
	}
	return exact, begins, ends
}()

// A form is a split pattern with one star: every searched file is compared with all of them.
type form struct{ before, after string }

func (f form) fits(name string) bool {
	return len(name) >= len(f.before)+len(f.after) && strings.HasPrefix(name, f.before) &&
		strings.HasSuffix(name, f.after)
}

// plain are words that name files of secrets, and source files about secrets. A file of secrets
// has the extension of a data file, or none.
var plain = []string{"credentials*", "secrets*", "passwords*", "*credentials", "*_secret"}

var data = []string{".json", ".yaml", ".yml", ".toml", ".ini", ".txt", ".xml", ".env",
	".properties", ".conf", ".cfg", ".csv", ".enc", ".db", ".plist", ".bak", ".old"}

// sources are the extensions of source code.
var sources = set(".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".c", ".h", ".cc",
	".cpp", ".hpp", ".rs", ".java", ".kt", ".scala", ".rb", ".php", ".cs",
	".swift", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".lua", ".pl", ".sql", ".vue", ".svelte", ".html", ".css", ".md", ".rst", ".adoc", ".tf", ".proto")

func set(words ...string) map[string]bool {
	all := map[string]bool{}
	for _, w := range words {
		all[w] = true
	}
	return all
}

// harmless are names that look like secrets but hold none: examples, and public keys.
var harmless = []string{".env*.example", ".env*.sample", ".env*.template", ".env*.dist",
	".env*.defaults", "*.pub", ".envrc.example"}

// matchesName reports whether name matches a pattern.
func matchesName(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if strings.Contains(after, "*") {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	return form{before, after}.fits(name)
}
