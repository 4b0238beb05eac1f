package input

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemline/tools/workspace"
)

// Names completes the names of files.
type Names struct {
	Workspace *workspace.Workspace

	// Fuzzy looks for files whose names contain the typed letters, if no name begins with them.
	Fuzzy bool
}

// A Name is a completed file name.
type Name struct {
	Path string // the text to type
	Show string // what a list shows
	Dir  bool
}

const (
	// mostNames is the most files in a list.
	mostNames = 2000

	// mostFuzzy is the most similar names in a list.
	mostFuzzy = 50
)

// Complete returns the files that complete name.
func (n Names) Complete(ctx context.Context, name string) []Name {
	if found := n.beside(ctx, name); len(found) > 0 || !n.Fuzzy || utf8.RuneCountInString(name) < 2 {
		return found
	}
	return n.similar(ctx, name)
}

// beside returns the names that begin with name, in the directory of name. It returns hidden
// files only if name asks for them.
func (n Names) beside(ctx context.Context, name string) (found []Name) {
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i+1], name[i+1:]
	}
	for _, root := range n.Workspace.Roots() {
		path := filepath.Join(root, filepath.FromSlash(dir))
		if filepath.IsAbs(dir) {
			path = filepath.Clean(filepath.FromSlash(dir))
		}
		for e := range n.list(ctx, path, base) {
			text := dir + filepath.Base(e.Path)
			found = append(found, Name{Path: text, Show: filepath.Base(e.Path), Dir: e.Type.IsDir()})
			if len(found) >= mostNames {
				return sorted(found)
			}
		}
		if len(found) > 0 || filepath.IsAbs(dir) {
			break
		}
	}
	return sorted(found)
}

// list yields the entries of one directory whose names begin with base.
func (n Names) list(ctx context.Context, dir, base string) iter.Seq[workspace.Entry] {
	keep := func(name string) bool {
		return strings.HasPrefix(name, base) && (base != "" || !strings.HasPrefix(name, "."))
	}
	options := workspace.WalkOptions{Dirs: true, Skip: func(path string, _ bool) bool {
		return filepath.Dir(path) != dir || !keep(filepath.Base(path))
	}}
	return func(yield func(workspace.Entry) bool) {
		for e, err := range n.Workspace.Walk(ctx, dir, options) {
			if err == nil && filepath.Dir(e.Path) == dir && !yield(e) {
				return
			}
		}
	}
}

func sorted(found []Name) []Name {
	slices.SortFunc(found, func(a, b Name) int { return strings.Compare(a.Path, b.Path) })
	return found
}

// similar returns the files whose names contain the letters of name in order, the best first.
func (n Names) similar(ctx context.Context, name string) []Name {
	type match struct {
		path  string
		score int
	}
	var best []match
	wanted := []rune(strings.ToLower(name))
	for _, root := range n.Workspace.Roots() {
		options := workspace.WalkOptions{Keep: func(path string, _ fs.FileMode) bool {
			rel, err := filepath.Rel(root, path)
			return err == nil && likeness(filepath.ToSlash(rel), wanted) > 0
		}}
		for e, err := range n.Workspace.Walk(ctx, root, options) {
			if err != nil {
				continue
			}
			rel := n.Workspace.Rel(e.Path)
			best = append(best, match{rel, likeness(rel, wanted)})
		}
	}
	slices.SortFunc(best, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.path), len(b.path)),
			strings.Compare(a.path, b.path))
	})
	var found []Name
	for _, m := range best[:min(len(best), mostFuzzy)] {
		found = append(found, Name{Path: m.path, Show: m.path})
	}
	return found
}

// likeness rates how well the wanted letters, in lower case, match path: 0 if they do not all occur
// in order. Consecutive letters count more, and so do letters at the start of a word and in the
// file's name.
func likeness(path string, wanted []rune) (score int) {
	name := strings.LastIndexByte(path, '/') + 1
	at, run, before := 0, 0, '/'
	for i, r := range path {
		if at == len(wanted) {
			break
		}
		if unicode.ToLower(r) != wanted[at] {
			run, before = 0, r
			continue
		}
		at++
		run++
		score += run
		if i >= name {
			score++
		}
		if !unicode.IsLetter(before) && !unicode.IsDigit(before) || unicode.IsLower(before) && unicode.IsUpper(r) {
			score += 2
		}
		before = r
	}
	if at < len(wanted) {
		return 0
	}
	return score
}
