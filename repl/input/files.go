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

// Files is the step that adds the contents of the files a prompt refers to by
// @path. What it can't use stays in the text and is told.
type Files struct {
	Workspace *workspace.Workspace

	// Read returns the contents of paths, which are absolute: of a
	// directory, those of all files below it that are worth reading. Each
	// text is preceded by a part that names it.
	Read func(ctx context.Context, paths []string) ([]*genai.Part, error)

	// Notify tells the user about a reference that did not mean what it
	// may seem to.
	Notify func(string)

	// Search looks for a name that is nowhere as part of the names of all
	// files in the workspace.
	Search bool
}

const (
	filesBegin = "\n--- Content from referenced files ---"
	filesEnd   = "\n--- End of content ---"
	filesNone  = "No files matching the criteria were found or all were skipped."
)

// A target is what a reference stands for.
type target struct {
	text  string   // what the reference is called in the prompt, without the @
	paths []string // absolute
	end   int      // of the reference, if less of it was meant than could be
	told  bool     // the user was told why it is nothing
	why   string   // it is nothing
}

// Step is the [Step] of f.
func (f Files) Step(next Processor) Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		parts, err := f.expand(ctx, parts)
		if err != nil {
			return nil, err
		}
		return next(ctx, parts)
	}
}

// Check returns an [*Error] if one of paths can't be used, where that is no
// matter of taste: they are meant to the letter.
func (f Files) Check(ctx context.Context, paths []string) error {
	f.Notify = nil
	for _, path := range paths {
		t := target{}
		if path != "" && sane(path) {
			t = f.look(ctx, ref{name: path, literal: true}, path)
		}
		if len(t.paths) == 0 {
			return &Error{Message: fmt.Sprintf("the file %q: %s", path, cmp.Or(t.why, "there is no such file"))}
		}
	}
	return nil
}

func (f Files) expand(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
	s := text(parts)
	var query strings.Builder
	var paths []string
	known := map[string]target{}
	at := 0
	for _, r := range refs(s) {
		t, ok := known[s[r.start:r.end]]
		if !ok {
			var err error
			if t, err = f.resolve(ctx, r); err != nil {
				return nil, err
			}
			t.end -= r.start
			known[s[r.start:r.end]] = t
		}
		if len(t.paths) == 0 {
			continue
		}
		query.WriteString(s[at:r.start])
		if n := query.Len(); n > 0 && !strings.HasSuffix(query.String()[n-1:], " ") {
			query.WriteByte(' ')
		}
		query.WriteString("@" + t.text)
		at = r.start + t.end
		for _, p := range t.paths {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return parts, nil
	}
	query.WriteString(s[at:])
	contents, err := f.Read(ctx, paths)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &Error{Message: "the prompt was not sent: " + err.Error(), Err: err}
	}
	if len(contents) == 0 {
		say(f.Notify, "nothing that the prompt refers to could be read")
		contents = []*genai.Part{genai.NewPartFromText(filesNone)}
	}
	parts = retold(parts, query.String())
	parts = append(parts, genai.NewPartFromText(filesBegin))
	parts = append(parts, contents...)
	return append(parts, genai.NewPartFromText(filesEnd)), nil
}

// resolve finds out what r stands for. An error is only ever that of ctx.
func (f Files) resolve(ctx context.Context, r ref) (target, error) {
	if !sane(r.name) {
		return target{}, nil
	}
	for _, name := range readings(r) {
		t := f.look(ctx, r, name)
		if t.end = r.end - (len(r.name) - len(name)); len(t.paths) > 0 || t.told {
			return t, ctx.Err()
		}
	}
	if r.mail { // most likely an address
		return target{}, ctx.Err()
	}
	if f.Search && !r.literal && !strings.Contains(r.name, "*") {
		if t := f.search(ctx, r.name); len(t.paths) > 0 {
			t.end = r.end
			return t, ctx.Err()
		}
	}
	if ctx.Err() == nil {
		say(f.Notify, "@%s: there is no such file; sent as text", r.name)
	}
	return target{}, ctx.Err()
}

// readings returns what r may name: all of it, or less what belongs to the
// sentence around it, as in "see @main.go: it fails" or "@main.go:12".
func readings(r ref) []string {
	names := []string{r.name}
	if r.literal {
		return names
	}
	if less := strings.TrimRight(r.name, ":'\"*_>`"); less != "" && less != r.name {
		names = append(names, less)
	}
	if i := strings.LastIndexByte(r.name, ':'); i > 0 && strings.Trim(r.name[i+1:], "0123456789-") == "" {
		names = append(names, r.name[:i])
	}
	return names
}

// sane reports whether name can be the name of a file.
func sane(name string) bool {
	if len(name) > 4096 {
		return false
	}
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		if len(part) > 255 {
			return false
		}
	}
	return strings.IndexFunc(name, unicode.IsControl) < 0
}

// look returns the file, the directory or the files by a pattern that name
// stands for in one of the roots.
func (f Files) look(ctx context.Context, r ref, name string) target {
	plain := name
	if plain == "**" {
		plain = "."
	} else if dir, ok := strings.CutSuffix(plain, "/**"); ok {
		plain = cmp.Or(dir, "/")
	}
	for _, root := range f.Workspace.Roots() {
		path := plain
		if !filepath.IsAbs(plain) {
			path = filepath.Join(root, plain)
		}
		path = filepath.Clean(path)
		info, err := f.Workspace.Stat(path)
		if outside := (*workspace.OutsideError)(nil); err != nil && !(errors.As(err, &outside) && f.Workspace.There(path)) {
			continue
		}
		return f.take(r, path, info)
	}
	if !r.literal && strings.Contains(name, "*") {
		return f.glob(ctx, name)
	}
	return target{}
}

// take returns the target that is the existing file or directory at path, if
// it may be used. There is no info of what lies outside.
func (f Files) take(r ref, path string, info fs.FileInfo) target {
	refuse := func(why string) target {
		if !r.mail {
			say(f.Notify, "@%s: %s; sent as text", r.name, why)
		}
		return target{told: true, why: why}
	}
	var outside *workspace.OutsideError
	switch _, err := f.Workspace.Resolve(path); {
	case errors.As(err, &outside):
		return refuse("it is not in the workspace, or must not be read")
	case err != nil:
		return refuse(err.Error())
	case info == nil: // it was outside just now
		return target{}
	}
	if f.Workspace.Ignored(path, info.IsDir()) {
		return refuse("an ignore file names it")
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return refuse("it is not an ordinary file")
	}
	name := f.Workspace.Rel(path)
	if info.IsDir() {
		name += "/**"
	}
	if !quotable(name) {
		return refuse("its name could be taken for a command")
	}
	return target{text: name, paths: []string{path}}
}

// quotable reports whether name can stand in a prompt without making a
// !{command} there, be it with the text that follows.
func quotable(name string) bool {
	return !strings.Contains(name, "!{") && !strings.HasSuffix(name, "!")
}

// glob returns all files that pattern matches, the roots in order.
func (f Files) glob(ctx context.Context, pattern string) target {
	if !doublestar.ValidatePattern(filepath.ToSlash(pattern)) || !quotable(pattern) {
		return target{}
	}
	t, private := target{text: filepath.ToSlash(pattern)}, 0
	for _, root := range f.Workspace.Roots() {
		want := filepath.ToSlash(filepath.Clean(pattern))
		if filepath.IsAbs(pattern) {
			rel, err := filepath.Rel(root, pattern)
			if err != nil || strings.HasPrefix(rel, "..") {
				continue
			}
			want = filepath.ToSlash(rel)
		}
		for _, e := range f.walk(ctx, root, func(rel string) bool {
			ok, err := doublestar.Match(want, rel)
			return ok && err == nil
		}) {
			if f.Workspace.Private(e.Path) {
				private++
				continue
			}
			t.paths = append(t.paths, e.Path)
		}
	}
	if private > 0 {
		t.told = true
		say(f.Notify, "@%s: %d left out that may hold secrets; @ and the name reads one", pattern, private)
	}
	if len(t.paths) > 1 {
		say(f.Notify, "@%s: %d files", pattern, len(t.paths))
	}
	return t
}

// search returns the file that was changed last among those whose path
// contains name.
func (f Files) search(ctx context.Context, name string) target {
	part := filepath.ToSlash(name)
	for _, root := range f.Workspace.Roots() {
		found := f.walk(ctx, root, func(rel string) bool {
			ok, err := doublestar.Match("**/*"+escapeGlob(part)+"*", rel)
			return ok && err == nil
		})
		found = slices.DeleteFunc(found, func(e workspace.Entry) bool {
			return e.Info == nil || !quotable(f.Workspace.Rel(e.Path)) || f.Workspace.Private(e.Path)
		})
		if len(found) == 0 {
			continue
		}
		best := slices.MaxFunc(found, func(a, b workspace.Entry) int {
			return cmp.Or(a.Info.ModTime().Compare(b.Info.ModTime()), cmp.Compare(b.Path, a.Path))
		})
		t := target{text: f.Workspace.Rel(best.Path), paths: []string{best.Path}}
		if len(found) == 1 {
			say(f.Notify, "@%s: taken to mean %s", name, t.text)
		} else {
			say(f.Notify, "@%s: taken to mean %s, the last changed of %d files", name, t.text, len(found))
		}
		return t
	}
	return target{}
}

// walk returns the files below root whose path relative to it is wanted, in
// the order of their paths. What can't be read is passed over.
func (f Files) walk(ctx context.Context, root string, wanted func(rel string) bool) []workspace.Entry {
	var found []workspace.Entry
	for e, err := range f.Workspace.Walk(ctx, root, workspace.WalkOptions{Sorted: true, Info: true,
		Keep: func(path string, t fs.FileMode) bool {
			rel, err := filepath.Rel(root, path)
			return err == nil && (t.IsRegular() || t&fs.ModeSymlink != 0) && wanted(filepath.ToSlash(rel))
		},
	}) {
		if err != nil {
			continue
		}
		if e.Type&fs.ModeSymlink != 0 { // the target counts
			info, err := f.Workspace.Stat(e.Path)
			if err != nil || !info.Mode().IsRegular() || !f.Workspace.Contains(e.Path) {
				continue
			}
		}
		found = append(found, e)
	}
	return found
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(s)
}
