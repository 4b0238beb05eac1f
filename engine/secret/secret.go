// Package secret knows, by their names, the files in which people and programs
// keep what lets somebody in elsewhere: keys, passwords, tokens, and histories,
// in which passwords end up.
//
// # One table
//
// Whoever reads, searches, shows or hides files asks here. An entry is a
// program, the names of its files anywhere, and where they lie below the home
// directory. A name is a hint and no proof: what has one is asked about.
package secret

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Path reports whether a path, or a directory on its way, has a name that may
// stand for a secret. Upper and lower case are the same.
func Path(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(filepath.ToSlash(name)), func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	source := slices.Contains(sources, path.Ext(last)) && last[0] != '.'
	return slices.ContainsFunc(parts, func(part string) bool {
		is := func(pattern string) bool { return like(pattern, part) }
		if !exact[part] && !slices.ContainsFunc(wild, func(f form) bool { return f.fits(part) }) && !kept(part) {
			return false
		}
		about := source && (part == last || slices.ContainsFunc(plain, is)) // it is a program that deals with some
		return !about && !slices.ContainsFunc(harmless, is)
	})
}

// kept reports whether name is one of the plain words with an ending of data.
func kept(name string) bool {
	ext := path.Ext(name)
	return slices.Contains(data, ext) && slices.ContainsFunc(plain, func(p string) bool { return like(p, strings.TrimSuffix(name, ext)) })
}

// Patterns returns the names as patterns of a shell that fit in upper and lower
// case, for programs that leave files out by such. A few of them fit more than
// [Path] says.
func Patterns() []string {
	all := make([]string, len(names))
	for i, n := range names {
		var b strings.Builder
		for _, c := range n {
			if c >= 'a' && c <= 'z' {
				b.WriteString("[" + string(c) + string(c-'a'+'A') + "]")
			} else {
				b.WriteRune(c)
			}
		}
		all[i] = b.String()
	}
	return all
}

// Files returns the files and directories of secrets below the home directory,
// and below gemline's own there. Commands have no business with them.
func Files(home, own string) (list []string) {
	add := func(dir string, names []string) {
		for _, name := range names {
			if dir != "" {
				list = append(list, filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(name, "_/_", " "))))
			}
		}
	}
	for _, e := range table {
		add(home, strings.Fields(e.home))
	}
	add(own, strings.Fields(ours))
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

// exact and wild are those of them without a star and with one.
var exact, wild = func() (map[string]bool, []form) {
	exact, wild := map[string]bool{}, []form(nil)
	for _, n := range names {
		if slices.Contains(data, path.Ext(n)) && slices.ContainsFunc(plain, func(p string) bool { return strings.HasPrefix(n, p) }) {
			continue // which kept does in one go
		}
		if before, after, star := strings.Cut(n, "*"); star {
			wild = append(wild, form{before, after})
		} else {
			exact[n] = true
		}
	}
	return exact, wild
}()

// A form is a pattern with one star, taken apart: every file that is searched is
// compared with all of them.
type form struct{ before, after string }

func (f form) fits(name string) bool {
	return len(name) >= len(f.before)+len(f.after) && strings.HasPrefix(name, f.before) && strings.HasSuffix(name, f.after)
}

// plain are words that name files of secrets, and source files about them. The
// former have an ending of data, or none.
var plain = []string{"credentials*", "secrets*", "passwords*", "*credentials", "*_secret"}

var data = []string{".json", ".yaml", ".yml", ".toml", ".ini", ".txt", ".xml", ".env", ".properties", ".conf", ".cfg", ".csv", ".enc", ".db", ".plist", ".bak", ".old"}

// sources are the endings of what is no data.
var sources = []string{".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".java", ".kt", ".scala", ".rb", ".php", ".cs",
	".swift", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".lua", ".pl", ".sql", ".vue", ".svelte", ".html", ".css", ".md", ".rst", ".adoc", ".tf", ".proto"}

// harmless are names like those of secrets that hold none: examples, and the
// public half of keys.
var harmless = []string{".env*.example", ".env*.sample", ".env*.template", ".env*.dist", ".env*.defaults", "*.pub", ".envrc.example"}

// like reports whether name is as a pattern says.
func like(pattern, name string) bool {
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
