package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/secret"
)

const (
	maxDepth = 5    // of imports within imports
	maxName  = 4096 // bytes of what may be a path
)

// A boundary is the directory that imports stay in, as it was named and as it
// really is.
type boundary struct{ named, real string }

// boundaryAt returns the boundary that is the directory top.
func boundaryAt(top string) boundary {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		real = top
	}
	return boundary{named: top, real: real}
}

// An importer is a file whose imports are put in.
type importer struct {
	dir    string // what its relative imports start from
	within boundary
	chain  []string // real paths of the files that led here, its own last
}

// expand returns text with what stands behind @ put in its place.
func (l *loader) expand(text string, from importer) string {
	if len(from.chain) > maxDepth || !strings.Contains(text, "@") {
		return text
	}
	var b strings.Builder
	done := 0
	for at, name := range references(text) {
		if l.imports == 0 {
			l.exceeded("some imports are left as they are: there are more than %d in the context files", maxImports)
			break
		}
		l.imports--
		if with, ok := l.embed(name, from); ok {
			b.WriteString(text[done:at])
			b.WriteString(with)
			done = at + len("@") + len(name)
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// references yields what may be imports in text: where the @ is, and the path.
func references(text string) func(yield func(at int, name string) bool) {
	return func(yield func(int, string) bool) {
		code := codeIn(text)
		for at := 0; ; at++ {
			next := strings.IndexByte(text[at:], '@')
			if next < 0 {
				return
			}
			at += next
			for len(code) > 0 && code[0].end <= at {
				code = code[1:]
			}
			if len(code) > 0 && code[0].start <= at || at > 0 && !strings.ContainsRune(" \t\n", rune(text[at-1])) {
				continue
			}
			name := text[at+1:]
			if end := strings.IndexAny(name, " \t\r\n"); end >= 0 {
				name = name[:end]
			}
			if name == "" || len(name) > maxName || !beginsPath(name[0]) {
				continue
			}
			if !yield(at, name) {
				return
			}
			at += len(name)
		}
	}
}

func beginsPath(c byte) bool {
	return c == '.' || c == '/' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

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

// An inclusion is a file that is imported.
type inclusion struct {
	path string // absolute, as it is named
	real string // where that leads
	*source
}

// fetch returns the file that @name stands for, or why it can't be had. If that
// is no import, it returns neither.
func (l *loader) fetch(name string, from importer) (im *inclusion, refusal string) {
	for _, scheme := range []string{"file://", "http://", "https://"} {
		if strings.HasPrefix(strings.ToLower(name), scheme) {
			return nil, "URLs are not imported"
		}
	}
	path := filepath.FromSlash(name)
	if !strings.HasPrefix(name, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(from.dir, path)
	}
	real, err := l.locate(path, from.within)
	var s *source
	if err == nil {
		s = l.source(real)
		err = s.err
	}
	switch {
	case err == nil:
		return &inclusion{path: filepath.Clean(path), real: real, source: s}, ""
	case errors.Is(err, errOutside):
		return nil, "Path traversal attempt"
	case !pathlike(name):
		return nil, ""
	case errors.Is(err, errWithheld):
		return nil, "files of this name are not imported"
	case missing(err):
		return nil, fmt.Sprintf("ENOENT: no such file or directory, open '%s'", path)
	case errors.Is(err, disk.ErrDirectory):
		return nil, "EISDIR: illegal operation on a directory, read"
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Sprintf("EACCES: permission denied, open '%s'", path)
	}
	return nil, why(err)
}

// embed returns what stands for @name. It is false if that is no import.
func (l *loader) embed(name string, from importer) (string, bool) {
	im, refusal := l.fetch(name, from)
	switch {
	case refusal != "":
		l.refused(name, from, refusal)
		return l.spend(fmt.Sprintf("<!-- Import failed: %s - %s -->", name, refusal))
	case im == nil:
		return "", false
	case slices.Contains(from.chain, im.real):
		return l.spend(fmt.Sprintf("<!-- File already processed: %s -->", name))
	case len(im.text) > l.left:
		l.exceeded("%s: the import of %s and more is left out: the context files have more than their limit in all", from.chain[0], name)
		return l.spend(fmt.Sprintf("<!-- Import failed: %s - the limit of all context is reached -->", name))
	}
	l.left -= len(im.text)
	l.know(im.info)
	text := l.expand(im.text, importer{dir: filepath.Dir(im.path), within: from.within,
		chain: append(slices.Clip(from.chain), im.real)})
	return fmt.Sprintf("<!-- Imported from: %s -->\n%s\n<!-- End of import from: %s -->", name, text, name), true
}

// followed returns text, which is that of the file at path, and behind it the
// files that it and they import, each once, in the order in which they are
// come across.
func (l *loader) followed(path, text string, from importer) string {
	root, blocks := from.chain[0], []string{block(path, text)}
	done := map[string]bool{root: true}
	var visit func(text string, from importer)
	visit = func(text string, from importer) {
		for _, name := range references(text) {
			if l.imports == 0 {
				l.exceeded("%s: some imports are left out: there are more than %d in the context files", root, maxImports)
				return
			}
			l.imports--
			im, refusal := l.fetch(name, from)
			if refusal != "" {
				l.refused(name, from, refusal)
			}
			if im == nil || done[im.real] {
				continue
			}
			done[im.real] = true
			next := block(im.path, im.text)
			if len(next) > l.left {
				l.exceeded("%s: the import of %s and more is left out: the context files have more than their limit in all", root, name)
				continue
			}
			l.left -= len(next)
			l.know(im.info)
			blocks = append(blocks, next)
			visit(im.text, importer{dir: filepath.Dir(im.path), within: from.within, chain: []string{im.real}})
		}
	}
	visit(text, from)
	return strings.Join(blocks, "\n\n")
}

// block returns the text of a file among those that follow each other.
func block(path, text string) string {
	return fmt.Sprintf("--- File: %s ---\n%s\n--- End of File: %[1]s ---", oneLiner(path), text)
}

// refused warns of an import that can't be had.
func (l *loader) refused(name string, from importer, reason string) {
	l.warn("%s: import of %s: %s", from.chain[len(from.chain)-1], name, reason)
}

// spend returns a mark, if there is room for it.
func (l *loader) spend(mark string) (string, bool) {
	if len(mark) > l.left {
		return "", false
	}
	l.left -= len(mark)
	return mark, true
}

var (
	errOutside  = errors.New("it is outside")
	errWithheld = errors.New("it is withheld")
)

// locate returns where path leads. Nothing outside the boundary is so much as
// looked at, unless a link inside leads there.
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
	if err != nil {
		return "", err
	}
	return real, l.allowed(b.real, real)
}

// allowed returns why path may not be read: it is not below dir, or it goes
// through what is withheld.
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

// pathlike reports whether name, which is no file, was most likely meant as
// one. People are addressed by @, and so are packages.
func pathlike(name string) bool {
	if name[0] == '.' || name[0] == '/' {
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".mdx", ".mdc", ".markdown", ".txt", ".rst", ".adoc", ".json", ".yaml", ".yml", ".toml":
		return true
	}
	return false
}
