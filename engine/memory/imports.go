package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/engine/text"
)

const (
	maxDepth = 5    // of imports within imports
	maxName  = 4096 // bytes of a possible path
)

// A boundary is the directory that imports must stay in, as named and with links resolved.
type boundary struct{ named, real string }

// boundaryAt returns the boundary of the directory top.
func boundaryAt(top string) boundary {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		real = top
	}
	return boundary{named: top, real: real}
}

// An importer is a file whose imports are resolved.
type importer struct {
	dir    string // the base of relative imports
	within boundary
	chain  []string // real paths of the importing files, its own last
}

// expand returns text with references replaced by the imported files.
func (l *loader) expand(text string, from importer) string {
	if len(from.chain) > maxDepth || !strings.Contains(text, "@") {
		return text
	}
	var b strings.Builder
	done := 0
	for r := range references(text) {
		if l.imports == 0 {
			l.exceeded("some imports are left as they are: there are more than %d in the context files", maxImports)
			break
		}
		if r.at < done { // inside the previous name
			continue
		}
		l.imports--
		name, end := l.meant(r, from)
		if with, ok := l.embed(name, from); ok {
			b.WriteString(text[done:r.at])
			b.WriteString(with)
			done = end
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// A reference may be an import.
type reference struct {
	at    int      // the index of the @
	names []string // possible names without escapes: the whole word, then with fewer trailing marks
	ends  []int    // the ends of the names in the text
}

// closers are marks that may follow the name of a file in a sentence, and openers marks that may
// precede the @.
const (
	closers = ".,;:!?)]}>\"'*_|~"
	openers = " \t\n([{<\"'*_>|,;:~"
)

// closes and opens report whether a character is a closer or an opener, in any script.
func closes(r rune) bool {
	return strings.ContainsRune(closers, r) || r > unicode.MaxASCII && unicode.IsPunct(r)
}

func opens(r rune) bool {
	return strings.ContainsRune(openers, r) || r > unicode.MaxASCII && !unicode.IsLetter(r)
}

// references yields the possible imports in a text.
func references(source string) func(yield func(reference) bool) {
	return func(yield func(reference) bool) {
		code := codeIn(source)
		for _, at := range comment().FindAllStringIndex(source, -1) {
			code = append(code, span{at[0], at[1]})
		}
		slices.SortFunc(code, func(a, b span) int { return a.start - b.start })
		for at := 0; ; at++ {
			next := strings.IndexByte(source[at:], '@')
			if next < 0 {
				return
			}
			at += next
			for len(code) > 0 && code[0].end <= at {
				code = code[1:]
			}
			if len(code) > 0 && code[0].start <= at || at > 0 && !opensAt(source[:at]) {
				continue
			}
			r := referenceAt(source, at)
			if len(r.names) == 0 || r.names[0] == "" || len(r.names[0]) > maxName || !beginsPath(r.names[0]) {
				continue
			}
			if !yield(r) {
				return
			}
			at = r.ends[len(r.ends)-1] - 1
		}
	}
}

// referenceAt returns the reference whose @ is text[at]. A blank after a backslash belongs to the
// name.
func referenceAt(text string, at int) (r reference) {
	end := at + 1
	var name strings.Builder
	if rest, ok := strings.CutPrefix(text[at:], `@"`); ok {
		if n := strings.IndexAny(rest, "\"\n"); n > 0 && rest[n] == '"' {
			return reference{at: at, names: []string{rest[:n]}, ends: []int{at + len(`@""`) + n}}
		}
	}
	for ; end < len(text) && name.Len() <= maxName && strings.IndexByte(" \t\r\n", text[end]) < 0; end++ {
		if text[end] == '\\' && end+1 < len(text) && text[end+1] == ' ' {
			end++
		}
		name.WriteByte(text[end])
	}
	r.at = at
	whole := name.String()
	for n := end; whole != ""; {
		r.names, r.ends = append(r.names, whole), append(r.ends, n)
		last, size := utf8.DecodeLastRuneInString(whole)
		if !closes(last) || len(r.names) > 10 {
			break
		}
		whole, n = whole[:len(whole)-size], n-size
	}
	inside := func(c rune) bool { return c == '#' || c > unicode.MaxASCII && unicode.IsPunct(c) }
	if i := strings.IndexFunc(whole, inside); i > 0 {
		last := len(r.names) - 1
		r.names, r.ends = append(r.names, whole[:i]), append(r.ends, r.ends[last]-len(whole)+i)
	}
	return r
}

// opensAt reports whether a reference can begin after text.
func opensAt(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return opens(last)
}

func beginsPath(name string) bool {
	c := name[0]
	return c == '.' || c == '/' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf || strings.HasPrefix(name, "~/")
}

// comment matches a comment of HTML.
var comment = text.Pattern(`(?s)<!--(?:-?>|.*?-->)`)

// A span is a part of a text.
type span struct{ start, end int }

// codeIn returns the parts of text between a run of back-ticks and the next
// run of the same length.
func codeIn(text string) []span {
	var runs []span
	for i := 0; i < len(text); i++ {
		next := strings.IndexByte(text[i:], '`')
		if next < 0 {
			break
		}
		start := i + next
		for i = start; i < len(text) && text[i] == '`'; i++ {
		}
		runs = append(runs, span{start, i})
	}
	partner := make([]int, len(runs))
	last := map[int]int{} // by length, the next run plus one
	for i, r := range slices.Backward(runs) {
		partner[i] = last[r.end-r.start] - 1
		last[r.end-r.start] = i + 1
	}
	var code []span
	for i := 0; i < len(runs); i++ {
		if j := partner[i]; j >= 0 {
			code = append(code, span{runs[i].start, runs[j].end})
			i = j
		}
	}
	return code
}

// An inclusion is an imported file.
type inclusion struct {
	path string // absolute, as named
	real string // with links resolved
	*source
}

// meant returns the longest name of r for which a file exists, else the shortest name, and its
// end.
func (l *loader) meant(r reference, from importer) (name string, end int) {
	last := len(r.names) - 1
	for i, name := range r.names[:last] {
		if _, err := l.locate(from.path(name), from.within); err == nil {
			return name, r.ends[i]
		}
	}
	return r.names[last], r.ends[last]
}

// path returns the path of a name in the file.
func (from importer) path(name string) string {
	path := filepath.FromSlash(name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if !strings.HasPrefix(name, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(from.dir, path)
	}
	return path
}

// A refusal is the reason why an import fails: in the Gemini CLI's words for the model, and in
// plain words for the user.
type refusal struct{ model, user string }

// fetch returns the file for @name, or the reason to refuse it. The user is warned of a refusal.
// If @name is no import, it returns neither.
func (l *loader) fetch(name string, from importer) (im *inclusion, reason string) {
	im, no := l.find(name, from)
	if no.model != "" {
		l.warn("%s: import of %s: %s", from.chain[len(from.chain)-1], name, cmp.Or(no.user, no.model))
	}
	return im, no.model
}

func (l *loader) find(name string, from importer) (im *inclusion, no refusal) {
	for _, scheme := range []string{"file://", "http://", "https://"} {
		if strings.HasPrefix(strings.ToLower(name), scheme) {
			return nil, refusal{model: "URLs are not imported"}
		}
	}
	path := from.path(name)
	real, err := l.locate(path, from.within)
	var s *source
	if err == nil {
		s = l.source(real)
		err = s.err
	}
	switch {
	case err == nil:
		return &inclusion{path: filepath.Clean(path), real: real, source: s}, no
	case errors.Is(err, errOutside):
		return nil, refusal{"Path traversal attempt", "it is outside of " + from.within.named}
	case !pathlike(name):
		return nil, no
	case errors.Is(err, errWithheld):
		return nil, refusal{model: "files of this name are not imported"}
	case missing(err):
		return nil, refusal{fmt.Sprintf("ENOENT: no such file or directory, open '%s'", path), "there is no such file"}
	case errors.Is(err, disk.ErrDirectory):
		return nil, refusal{"EISDIR: illegal operation on a directory, read", "it is a directory"}
	case errors.Is(err, fs.ErrPermission):
		return nil, refusal{fmt.Sprintf("EACCES: permission denied, open '%s'", path), "it may not be read"}
	}
	return nil, refusal{model: why(err)}
}

// embed returns the replacement of @name, and false if @name is no import.
func (l *loader) embed(name string, from importer) (string, bool) {
	im, reason := l.fetch(name, from)
	switch {
	case reason != "":
		return l.spend(fmt.Sprintf("<!-- Import failed: %s - %s -->", name, reason))
	case im == nil:
		return "", false
	case slices.Contains(from.chain, im.real):
		return l.spend(fmt.Sprintf("<!-- File already processed: %s -->", name))
	case len(im.text) > l.remaining:
		l.exceeded("%s: the import of %s and more is left out: the context files have more than their limit in all", from.chain[0], name)
		return l.spend(fmt.Sprintf("<!-- Import failed: %s - the limit of all context is reached -->", name))
	}
	l.remaining -= len(im.text)
	l.know(im.info)
	text := l.expand(im.text, importer{dir: filepath.Dir(im.path), within: from.within,
		chain: append(slices.Clip(from.chain), im.real)})
	return fmt.Sprintf("<!-- Imported from: %s -->\n%s\n<!-- End of import from: %s -->", name, text, name), true
}

// followed returns text, the content of the file at path, followed by the imported files, each
// once, in the order of imports. It includes imports of imported files.
func (l *loader) followed(path, text string, from importer) string {
	root, blocks := from.chain[0], []string{block(path, text)}
	done := map[string]bool{root: true}
	var visit func(text string, from importer)
	visit = func(text string, from importer) {
		for r := range references(text) {
			if l.imports == 0 {
				l.exceeded("%s: some imports are left out: there are more than %d in the context files", root, maxImports)
				return
			}
			l.imports--
			name, _ := l.meant(r, from)
			im, _ := l.fetch(name, from)
			if im == nil || done[im.real] {
				continue
			}
			done[im.real] = true
			next := block(im.path, im.text)
			if len(next) > l.remaining {
				l.exceeded("%s: the import of %s and more is left out: the context files have more than their limit in all", root, name)
				continue
			}
			l.remaining -= len(next)
			l.know(im.info)
			blocks = append(blocks, next)
			visit(im.text, importer{dir: filepath.Dir(im.path), within: from.within, chain: []string{im.real}})
		}
	}
	visit(text, from)
	return strings.Join(blocks, "\n\n")
}

// block returns the text of a file between marks with its name.
func block(path, text string) string {
	return fmt.Sprintf("--- File: %s ---\n%s\n--- End of File: %[1]s ---", oneLiner(path), text)
}

// spend returns a mark, if the limit allows it.
func (l *loader) spend(mark string) (string, bool) {
	if len(mark) > l.remaining {
		return "", false
	}
	l.remaining -= len(mark)
	return mark, true
}

var (
	errOutside  = errors.New("it is outside")
	errWithheld = errors.New("it is withheld")
)

// locate resolves the links of path. It accesses no file outside the boundary, unless a link
// inside leads there.
func (l *loader) locate(path string, b boundary) (string, error) {
	if strings.Contains(path, "\x00") {
		return "", fs.ErrNotExist
	}
	switch named, real := l.allowed(b.named, path), l.allowed(b.real, path); {
	case named == errWithheld, real == errWithheld:
		return "", errWithheld
	case named != nil && real != nil:
		return "", errOutside
	}
	real, err := filepath.EvalSymlinks(path)
	if missing(err) {
		if other := l.spelled(path, b); other != path {
			return l.locate(other, b)
		}
	}
	if err != nil {
		return "", err
	}
	return real, l.allowed(b.real, real)
}

// spelled returns path with its characters composed as on the disk, or path if no such file
// exists. It lists only folders within the boundary.
func (l *loader) spelled(path string, b boundary) string {
	at := b.named
	if l.allowed(at, path) != nil {
		at = b.real
	}
	rel, err := filepath.Rel(at, path)
	if err != nil || !strings.ContainsFunc(rel, func(r rune) bool { return r > unicode.MaxASCII }) {
		return path
	}
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		next := filepath.Join(at, part)
		if _, err := os.Lstat(next); err != nil {
			real, err := filepath.EvalSymlinks(at)
			if err != nil || l.allowed(b.real, real) != nil {
				return path
			}
			entries, _ := os.ReadDir(real)
			i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return norm.NFC.String(e.Name()) == norm.NFC.String(part) })
			if i < 0 {
				return path
			}
			next = filepath.Join(at, entries[i].Name())
		}
		at = next
	}
	return at
}

// allowed returns an error if path must not be read: it is not below dir, or passes through a
// withheld directory.
func (l *loader) allowed(dir, path string) error {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return errOutside
	}
	if secret.Path(rel) || l.cfg.Withheld != nil &&
		slices.ContainsFunc(strings.Split(rel, string(filepath.Separator)), l.cfg.Withheld) {
		return errWithheld
	}
	return nil
}

// pathlike reports whether name, for which no file exists, probably denotes a file, and not a
// person or a package.
func pathlike(name string) bool {
	if name[0] == '.' || name[0] == '/' || strings.HasPrefix(name, "~/") {
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".mdx", ".mdc", ".markdown", ".txt", ".rst", ".adoc", ".json", ".yaml", ".yml", ".toml":
		return true
	}
	return false
}
