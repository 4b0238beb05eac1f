package policy

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"gemline/engine"
)

// A Guarded says which files are not edited like others: what they hold steers
// conversations to come, or is run by something later.
type Guarded struct {
	// Names are those of context files, beside the ones that are always
	// guarded. Only the last element of each counts.
	Names []string

	// Roots returns the directories that are worked in. In them, each element
	// of a path counts; elsewhere only the last one does.
	Roots func() []string

	// Own are the directories of gemline's own configuration, but for the
	// directories in Free.
	Own, Free []string
}

// protected are names of files, and of directories with all they hold, that a
// tool of the user's or gemline itself goes by, in any case.
var protected = []string{
	".git", ".gitattributes", ".gitmodules", ".gitconfig", ".gemini", ".vscode", ".idea", ".husky", ".envrc", ".npmrc", ".netrc", ".ssh",
	"GEMINI.md", "AGENTS.md",
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc",
}

// Guard returns p and a, except that edits of guarded files are asked about in
// every mode but [Yolo], whatever was granted or rules allow, and that no
// "always" is offered for them. Gemline's own configuration is asked about in
// Yolo as well, and left alone where nobody can be asked.
func Guard(p *Policy, a engine.Approver, g Guarded) (engine.Policy, engine.Approver) {
	if g.Roots == nil {
		g.Roots = func() []string { return nil }
	}
	w := guard{p, g}
	return w, guardedApprover{a, w}
}

type guard struct {
	*Policy
	files Guarded
}

// A guardedApprover does not offer what the guard would not honour, and puts no
// question that the guard can answer.
type guardedApprover struct {
	engine.Approver
	guard guard
}

// Approve implements [engine.Approver].
func (a guardedApprover) Approve(ctx context.Context, q engine.Proposal) (engine.Answer, error) {
	if a.guard.edits(q, a.guard.files.holds) {
		q.Intent.Grants = nil
	}
	if q.Intent.Failed == "" {
		return a.Approver.Approve(ctx, q)
	}
	// A call that runs asks for more than it was judged with.
	switch verdict, reason := a.guard.Judge(q); verdict {
	case engine.Allow:
		return engine.Answer{Allow: true}, nil
	case engine.Deny:
		return engine.Answer{Unasked: reason}, nil
	}
	answer, err := a.Approver.Approve(ctx, q)
	if err == nil && answer.Allow && answer.Scope != engine.Once {
		err = a.guard.Learn(answer.Grant, answer.Scope)
	}
	return answer, err
}

// Judge implements [engine.Policy].
func (g guard) Judge(q engine.Proposal) (engine.Verdict, string) {
	verdict, reason := g.Policy.Judge(q)
	if verdict != engine.Allow {
		return verdict, reason
	}
	if g.Mode() != Yolo {
		if g.edits(q, g.files.holds) {
			return engine.Ask, ""
		}
		return verdict, reason
	}
	switch own := g.edits(q, g.files.own); {
	case own && g.Unattended:
		return engine.Deny, "This is gemline's own configuration, which is changed by the user or with the user's consent, in every mode."
	case own:
		return engine.Ask, ""
	}
	return verdict, reason
}

// edits reports whether q edits a file of which is says so, by its path or by
// where that leads, or asks for the right to write there.
func (g guard) edits(q engine.Proposal, is func(path string) bool) bool {
	paths := q.Intent.Rights.Write
	around := func(path string) bool {
		return slices.ContainsFunc(g.files.Own, func(own string) bool { _, ok := within(path, own); return ok })
	}
	if slices.ContainsFunc(paths, around) {
		return true
	}
	if q.Tool.Kind == engine.Edit {
		paths = append(slices.Clone(paths), q.Intent.Paths...)
	}
	return slices.ContainsFunc(paths, func(path string) bool { return is(path) || is(resolved(path)) })
}

// resolved follows the links in path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// holds reports whether the file at path is guarded.
func (g Guarded) holds(path string) bool {
	if g.own(path) {
		return true
	}
	for _, root := range g.Roots() {
		for _, root := range []string{root, resolved(root)} {
			if below, ok := within(root, path); ok && slices.ContainsFunc(elements(below), g.named) {
				return true
			}
			if below, ok := within(root, path); ok && workflow(elements(below)) {
				return true
			}
		}
	}
	return g.named(filepath.Base(path))
}

// own reports whether path is in the directories of gemline's configuration.
func (g Guarded) own(path string) bool {
	in := func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool {
			_, ok := within(dir, path)
			_, real := within(resolved(dir), path)
			return ok || real
		})
	}
	return in(g.Own) && !in(g.Free)
}

// named reports whether an element of a path is a name that is guarded, also
// to file systems that pass over characters that are not seen.
func (g Guarded) named(element string) bool {
	element = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, element)
	element = strings.TrimRight(element, ". ") // which Windows drops
	is := func(name string) bool { return strings.EqualFold(filepath.Base(name), element) }
	return slices.ContainsFunc(protected, is) || slices.ContainsFunc(g.Names, is) ||
		len(element) >= len(".env") && strings.EqualFold(element[:len(".env")], ".env")
}

// workflow reports whether elements lead into what GitHub runs.
func workflow(elements []string) bool {
	for i := range elements[1:] {
		if strings.EqualFold(elements[i], ".github") && strings.EqualFold(elements[i+1], "workflows") {
			return true
		}
	}
	return false
}

// within returns path as seen from dir, if it is dir or below it. Case does
// not matter, as it does not in some file systems.
func within(dir, path string) (below string, ok bool) {
	if dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(strings.ToLower(dir), strings.ToLower(path))
	return rel, err == nil && filepath.IsLocal(rel)
}

// elements returns the elements of a path, of which there is one at least.
func elements(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
