package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"google.golang.org/genai"

	"gemline/tools/workspace"
)

// Files is the [Source] of the files of a workspace, by their paths.
type Files struct {
	Workspace *workspace.Workspace

	// Contents returns the contents of absolute paths; for a directory, those of all readable text
	// files below it. A part with the name of the file precedes each text.
	Contents func(ctx context.Context, paths []string) ([]*genai.Part, error)

	// Notify prints a warning about a reference that was not read as the user may expect.
	Notify func(string)

	// Search looks for a name without a file as a part of all file names in the workspace.
	Search bool
}

// Check returns an [*Error] if one of paths can't be used. Its paths are meant literally, such as
// paths in flags.
func (f Files) Check(ctx context.Context, paths []string) error {
	f.Notify = nil
	for _, path := range paths {
		t := Target{}
		if path != "" && (Ref{Name: path}).sane() {
			t = f.look(ctx, Ref{Name: path, literal: true}, path)
		}
		if len(t.Names) == 0 {
			return &Error{Message: fmt.Sprintf("the file %q: %s", path, cmp.Or(t.why, "there is no such file"))}
		}
	}
	return nil
}

// Read implements [Source].
func (f Files) Read(ctx context.Context, paths []string) ([]*genai.Part, error) {
	return f.Contents(ctx, paths)
}

// Find implements [Source].
func (f Files) Find(ctx context.Context, r Ref) (Target, error) {
	if !r.sane() {
		return Target{}, nil
	}
	for _, name := range readings(r) {
		if t := f.look(ctx, r, name); len(t.Names) > 0 || t.Reported {
			return t, ctx.Err()
		}
	}
	if f.Search && r.guess && r.path() && !r.Mail && !r.literal && !strings.Contains(r.Name, "*") { // an @ after a word is most likely an address
		if t := f.search(ctx, r.Name); len(t.Names) > 0 {
			return t, ctx.Err()
		}
	}
	if meant := workspace.Hint(f.Workspace, r.Name); meant != "" && f.Notify != nil && r.path() && !r.Mail && !r.goesOn() {
		say(f.Notify, "%s: there is no such file; did you mean @%s? sent as text", cmp.Or(r.Spelling, "@"+r.Name), meant)
		return Target{Reported: true}, ctx.Err()
	}
	return Target{}, ctx.Err()
}

// sentence are the characters that may follow the name of a file without belonging to it.
const sentence = ":'\"*_>`,;.!?()[]{}"

// readings returns possible names in r, the longest first: the whole text up to the next blank, as
// in "@app/[id]/page.tsx", or less, without punctuation of the sentence, as in "see @main.go: it
// fails" or "(@main.go:12)".
func readings(r Ref) (names []string) {
	if r.literal {
		return []string{r.Name}
	}
	for all := r.Name + r.rest; len(all) > len(r.Name); all = all[:len(all)-1] {
		if len(names) > 20 {
			break
		}
		names = append(names, all)
		if strings.IndexByte(sentence, all[len(all)-1]) < 0 {
			break
		}
	}
	if r.goesOn() {
		return names
	}
	names = append(names, r.Name)
	if less := strings.TrimRight(r.Name, ":'\"*_>`"); less != "" && less != r.Name {
		names = append(names, less)
	}
	if plain := strings.Trim(r.Name, "'`"); plain != "" && plain != r.Name {
		names = append(names, plain)
	}
	other := func(c rune) bool { return c == '#' || c > unicode.MaxASCII && unicode.IsPunct(c) }
	if i := strings.IndexFunc(r.Name, other); i > 0 { // "@main.go#L3", "（@main.go）", "@main.go’s"
		names = append(names, r.Name[:i])
	}
	if i := strings.LastIndexByte(r.Name, ':'); i > 0 && strings.Trim(r.Name[i+1:], "0123456789-") == "" {
		names = append(names, r.Name[:i])
	}
	return names
}

// goesOn reports whether the path of r continues behind its name, as in "@app/[id]/page.tsx".
func (r Ref) goesOn() bool {
	return strings.HasSuffix(r.Name, "/") && r.rest != "" && strings.IndexByte("[({", r.rest[0]) >= 0
}

// path reports whether r looks like a path: it has a slash, a suffix or a wildcard.
func (r Ref) path() bool {
	name := strings.TrimRight(r.Name, sentence)
	dot := strings.LastIndexByte(name, '.')
	return strings.ContainsAny(name, "/*") || dot >= 0 && dot < len(name)-1
}

// sane reports whether r can name a file.
func (r Ref) sane() bool {
	if len(r.Name) > 4096 {
		return false
	}
	for _, part := range strings.FieldsFunc(r.Name, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		if len(part) > 255 {
			return false
		}
	}
	return strings.IndexFunc(r.Name, unicode.IsControl) < 0
}

// look returns the target of name in a root: a file, a directory, or the files that match a
// pattern.
func (f Files) look(ctx context.Context, r Ref, name string) Target {
	plain := name
	if plain == "**" {
		plain = "."
	} else if dir, ok := strings.CutSuffix(plain, "/**"); ok {
		plain = cmp.Or(dir, "/")
	}
	plain = workspace.DiskSpelling(f.Workspace, plain)
	for _, root := range f.Workspace.Roots() {
		path := plain
		if !filepath.IsAbs(plain) {
			path = filepath.Join(root, plain)
		}
		path = filepath.Clean(path)
		info, err := f.Workspace.Stat(path)
		if outside := (*workspace.OutsideError)(nil); err != nil &&
			!(errors.As(err, &outside) && f.Workspace.Exists(path)) {
			continue
		}
		return f.take(r, path, info)
	}
	if !r.literal && strings.Contains(name, "*") {
		return f.glob(ctx, r, name)
	}
	return Target{}
}

// take returns the existing file or directory at path as a target, if it may be used. Info is nil
// for a path outside of the workspace.
func (f Files) take(r Ref, path string, info fs.FileInfo) Target {
	refuse := func(why string) Target {
		if !r.Mail {
			say(f.Notify, "%s: %s; sent as text", cmp.Or(r.Spelling, "@"+r.Name), why)
		}
		return Target{Reported: true, why: why}
	}
	var outside *workspace.OutsideError
	switch _, err := f.Workspace.Resolve(path); {
	case errors.As(err, &outside):
		return refuse("it is not in the workspace, or must not be read")
	case err != nil:
		return refuse(err.Error())
	case info == nil: // it was outside a moment ago
		return Target{}
	}
	if f.Workspace.Ignore.Names(path, info.IsDir()) {
		return refuse("an ignore file names it")
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return refuse("it is not an ordinary file")
	}
	return Target{Names: []string{path}}
}

// glob returns all files that pattern matches, the roots in order.
func (f Files) glob(ctx context.Context, r Ref, pattern string) Target {
	if !doublestar.ValidatePattern(filepath.ToSlash(pattern)) {
		return Target{}
	}
	t, private := Target{}, 0
	for _, root := range f.Workspace.Roots() {
		want := filepath.Clean(pattern)
		if filepath.IsAbs(want) {
			var err error
			if want, err = filepath.Rel(root, want); err != nil || !filepath.IsLocal(want) {
				continue
			}
		}
		want = workspace.BracketNames(f.Workspace, root, filepath.ToSlash(want), true)
		for _, e := range f.walk(ctx, root, func(rel string) bool {
			ok, err := doublestar.Match(want, rel)
			return ok && err == nil
		}) {
			if f.Workspace.Private(e.Path) {
				private++
				continue
			}
			t.Names = append(t.Names, e.Path)
		}
	}
	if private > 0 {
		t.Reported = true
		say(f.Notify, "%s: %d left out that may hold secrets; name one to have it read",
			cmp.Or(r.Spelling, "@"+pattern), private)
	}
	if len(t.Names) > 1 {
		say(f.Notify, "%s: %d files", cmp.Or(r.Spelling, "@"+pattern), len(t.Names))
	}
	return t
}

// search returns the most recently changed file whose path contains name.
func (f Files) search(ctx context.Context, name string) Target {
	part := filepath.ToSlash(name)
	for _, root := range f.Workspace.Roots() {
		found := f.walk(ctx, root, func(rel string) bool {
			ok, err := doublestar.Match("**/*"+workspace.EscapeGlob(part)+"*", rel)
			return ok && err == nil
		})
		found = slices.DeleteFunc(found, func(e workspace.Entry) bool {
			return e.Info == nil || f.Workspace.Private(e.Path)
		})
		if len(found) == 0 {
			continue
		}
		best := slices.MaxFunc(found, func(a, b workspace.Entry) int {
			return cmp.Or(a.Info.ModTime().Compare(b.Info.ModTime()), cmp.Compare(b.Path, a.Path))
		})
		if meant := f.Workspace.Rel(best.Path); len(found) == 1 {
			say(f.Notify, "@%s: taken to mean %s", name, meant)
		} else {
			say(f.Notify, "@%s: taken to mean %s, the last changed of %d files", name, meant, len(found))
		}
		return Target{Names: []string{best.Path}}
	}
	return Target{}
}

// walk returns the wanted files below root, in the order of their paths. Wanted gets a path
// relative to root. Unreadable directories are skipped.
func (f Files) walk(ctx context.Context, root string, wanted func(rel string) bool) []workspace.Entry {
	var found []workspace.Entry
	for e, err := range f.Workspace.Walk(ctx, root, workspace.WalkOptions{Info: true,
		Keep: func(path string, t fs.FileMode) bool {
			rel, err := filepath.Rel(root, path)
			return err == nil && (t.IsRegular() || t&fs.ModeSymlink != 0) && wanted(filepath.ToSlash(rel))
		},
	}) {
		if err != nil {
			continue
		}
		if e.Type&fs.ModeSymlink != 0 { // the link's target counts
			info, err := f.Workspace.Stat(e.Path)
			if err != nil || !info.Mode().IsRegular() || !f.Workspace.Contains(e.Path) {
				continue
			}
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b workspace.Entry) int { return strings.Compare(a.Path, b.Path) })
	return found
}
