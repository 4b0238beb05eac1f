package policy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
)

// GuardedFiles says which files are not edited like others: their content steers
// conversations to come, or is run by something later.
type GuardedFiles struct {
	// Names are the names of context files, which are guarded beside the built-in names. Only the
	// last element of each counts.
	Names []string

	// Roots returns the directories that are worked in. In them, each element
	// of a path counts; elsewhere only the last one does.
	Roots func() []string

	// Own are the directories of gemline's own configuration. The directories in
	// Except do not belong to it. They hold a directory for each project. A file there with a
	// name in State does belong to it, since gemline goes by it later; a name behind "*/"
	// is in the directories of projects.
	Own, Except, State []string

	// Programs are the directories that programs are found in.
	Programs []string

	// Notes are real paths. They and all files below them are guarded like context files.
	Notes []string

	// Agreed returns files and directories that run with all rights as they are.
	Agreed func() []string
}

// protected are names of files, and of directories with all they hold, that a
// tool of the user's or gemline itself goes by, in any case.
var protected = []string{
	".git", ".gitattributes", ".gitmodules", ".gitconfig", ".gemini", ".agents", ".vscode", ".idea", ".husky", ".envrc", ".npmrc", ".netrc", ".ssh",
	"hgrc", "hgrc-not-shared", ".hgrc", ".mcp.json", ".claude", ".cursor",
	"GEMINI.md", "AGENTS.md",
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc",
}

// Guard returns p and a, except that edits of guarded files are asked about in
// every mode but [Yolo], whatever grants or rules allow, and that no
// "always" is offered for them. Gemline's own configuration and programs with all
// rights are asked about in Yolo as well, and left alone where nobody can be asked.
func Guard(p *Policy, a engine.Approver, g GuardedFiles) (engine.Policy, engine.Approver) {
	w := guard{p, g}
	return w, guardedApprover{a, w}
}

// roots returns the directories that are worked in.
func (g GuardedFiles) roots() []string {
	if g.Roots == nil {
		return nil
	}
	return g.Roots()
}

type guard struct {
	policy *Policy
	files  GuardedFiles
}

// A guardedApprover does not offer what the guard would not honour, and puts no
// question that the guard can answer.
type guardedApprover struct {
	engine.Approver
	guard guard
}

// Approve implements [engine.Approver].
func (a guardedApprover) Approve(ctx context.Context, q engine.Proposal) (engine.Answer, error) {
	if a.guard.edits(q, a.guard.protects) {
		q.Intent.Grants = nil
	}
	if q.Intent.Plan.Failure.Reason == "" {
		return a.Approver.Approve(ctx, q)
	}
	// A call that runs asks for more than it was judged with.
	switch verdict, reason := a.guard.Judge(ctx, q); verdict {
	case engine.Allow:
		return engine.Allowed{}, nil
	case engine.Deny:
		return engine.Unasked{Advice: reason.Text, Rule: reason.Rule}, nil
	}
	answer, err := a.Approver.Approve(ctx, q)
	if yes, _ := answer.(engine.Allowed); err == nil && yes.Scope != engine.Once {
		err = a.guard.policy.Learn(yes.Grant, yes.Scope)
	}
	return answer, err
}

// Offers implements [engine.Policy].
func (g guard) Offers(t engine.Tool) bool { return g.policy.Offers(t) }

// Learn implements [engine.Policy].
func (g guard) Learn(grant engine.Grant, scope engine.Scope) error {
	return g.policy.Learn(grant, scope)
}

// Judge implements [engine.Policy].
func (g guard) Judge(_ context.Context, q engine.Proposal) (engine.Verdict, engine.Reason) {
	verdict, reason := g.files.Explain(g.policy, q).verdict()
	if verdict == engine.Allow && q.Intent.Ask != "" {
		verdict = engine.Ask
	}
	return verdict, reason
}

// Explain is [Policy.Explain] for a p that [Guard] guards.
func (g GuardedFiles) Explain(p *Policy, q engine.Proposal) Explanation {
	p = p.WithUnattended(p.Unattended) // the mode must not change during the judgement
	e := p.Explain(q)
	w := guard{p, g}
	yolo := p.Mode() == Yolo
	always := ""
	if yolo && e.Verdict == engine.Allow {
		always = w.always(q)
	}
	switch {
	case e.Verdict != engine.Allow:
	case e.Rule != nil && e.Rule.Tier == BuiltIn && e.Rule.Verdict == engine.Allow && q.Intent.Plan.Failure.Reason != "" && !(e.Rule.Commands.Revertible && q.Intent.Plan.Failure.ReadOnly):
		e.Ruling = Ruling{Why: "the command has failed without this right"}
	case yolo && w.opensPrograms(q):
		e.Ruling = Ruling{Why: "the call asks for a place where programs are found or configured"}
	case !yolo && w.edits(q, w.protects):
		e.Ruling = Ruling{Why: "the call may write to a protected file"}
	case always == "":
	case p.Unattended:
		e.Ruling = Ruling{Verdict: engine.Deny, Why: "the call may write to " + always + ", and nobody is there to ask"}
		e.Reason = "This is " + always + ", which is changed by the user or with the user's consent, in every mode."
	default:
		e.Ruling = Ruling{Why: "the call may write to " + always}
	}
	return e
}

// always names what q may write to that is asked about in every mode, "" if it does not.
func (g guard) always(q engine.Proposal) string {
	switch {
	case g.edits(q, g.files.isOwn):
		return "gemline's own configuration"
	case q.Intent.Plan.Confined && len(q.Intent.Plan.Rights.Write) == 0: // they are read-only for the command
	case g.edits(q, g.files.isAgreed), g.files.Agreed != nil && opens(q, g.files.Agreed()):
		return "a file that runs with all the user's rights"
	}
	return ""
}

// protects reports whether the file at path is guarded. For a plan that is written in plan mode
// only its own name counts, not the names of its folders.
func (g guard) protects(path string) bool {
	if g.policy.Mode() == Plan && g.policy.Plans != nil && g.policy.Plans(path) {
		return g.files.isProtectedName(filepath.Base(path))
	}
	return g.files.protects(path)
}

// opensPrograms reports whether q asks for the right to write where programs of the
// user's or their configuration are, or above these.
func (g guard) opensPrograms(q engine.Proposal) bool {
	return opens(q, g.files.Programs) || slices.ContainsFunc(q.Intent.Plan.Rights.Write, func(path string) bool {
		return slices.ContainsFunc(elements(path),
			func(name string) bool { return name == ".config" || g.files.isProtectedName(name) })
	})
}

// opens reports whether q asks for the right to write to one of places, below it, or around it.
func opens(q engine.Proposal, places []string) bool {
	return slices.ContainsFunc(q.Intent.Plan.Rights.Write, func(path string) bool {
		return slices.ContainsFunc(places, func(place string) bool {
			return insideFollowed(place, path) || holds(path, place)
		})
	})
}

// holds reports whether the directory dir holds a place, or a link on the way to it.
func holds(dir, place string) bool {
	return slices.ContainsFunc(disk.Way(place), func(at string) bool { return insideFollowed(dir, at) })
}

// edits reports whether q edits a file for which is returns true, or asks for the
// right to write there. The path of the file counts, and where it leads.
func (g guard) edits(q engine.Proposal, is func(path string) bool) bool {
	paths := q.Intent.Plan.Rights.Write
	around := func(path string) bool {
		return slices.ContainsFunc(g.files.Own, func(own string) bool { return holds(path, own) })
	}
	if q.Intent.Plan.Rights.Protected || slices.ContainsFunc(paths, around) {
		return true
	}
	if q.Tool.Kind == engine.Edit {
		paths = append(slices.Clone(paths), q.Intent.Paths...)
	}
	if g.files.hidesTarget(q.Intent) {
		return true
	}
	for _, path := range q.Intent.Plan.Writes {
		if !filepath.IsAbs(path) {
			path = filepath.Join(q.Intent.Plan.Dir, path)
		}
		paths = append(slices.Clip(paths), path)
	}
	return slices.ContainsFunc(paths, func(path string) bool { return is(path) || is(disk.ResolveLinks(path)) })
}

// isAgreed reports whether the file at path runs with all rights.
func (g GuardedFiles) isAgreed(path string) bool {
	return g.Agreed != nil && slices.ContainsFunc(g.Agreed(), func(dir string) bool { return insideFollowed(dir, path) })
}

// protects reports whether the file at path is guarded.
func (g GuardedFiles) protects(path string) bool {
	if g.isOwn(path) || g.isAgreed(path) || g.isProtectedName(filepath.Base(path)) ||
		slices.ContainsFunc(g.Notes, func(dir string) bool { return insideFollowed(dir, path) }) {
		return true
	}
	for _, root := range g.roots() {
		for _, root := range []string{root, disk.ResolveLinks(root)} {
			below, ok := inside(root, path)
			if !ok {
				continue
			}
			if parts := elements(below); slices.ContainsFunc(parts, g.isProtectedName) || workflow(parts) {
				return true
			}
			if g.isProtectedFile(root, path) {
				return true
			}
		}
	}
	return false
}

// isProtectedFile reports whether path, or a directory that it is in, is a guarded
// file of a directory above it under another name: on a file system that knows
// more names than are known here, by a hard link, or by a mount; or is what a link
// in gemline's own directory leads to.
func (g GuardedFiles) isProtectedFile(root, path string) bool {
	way := slices.Collect(disk.Upward(path))
	there := files(way)
	for _, dir := range way {
		if _, ok := inside(root, dir); !ok {
			break
		}
		for _, name := range slices.Concat(protected, g.Names,
			[]string{".env", filepath.Join(".github", "workflows")}) {
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil &&
				slices.ContainsFunc(there, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
				return true
			}
		}
		if slices.ContainsFunc(disk.LinkTargets(filepath.Join(dir, ".gemini")),
			func(place string) bool { return slices.Contains(way, place) }) {
			return true
		}
	}
	return false
}

// GuardsName reports whether the file at a path below a directory that is worked in is
// guarded by its last name, or is in one of Notes.
func (g GuardedFiles) GuardsName(path string) bool {
	if slices.ContainsFunc(g.Notes, func(dir string) bool {
		return slices.ContainsFunc(g.roots(), func(root string) bool { _, in := insideExactly(dir, filepath.Join(root, path)); return in })
	}) {
		return true
	}
	parts := elements(path)
	return g.isProtectedName(parts[len(parts)-1]) || len(parts) > 1 && workflow(parts[len(parts)-2:])
}

// files returns the descriptions of the existing files among paths.
func files(paths []string) []os.FileInfo {
	var all []os.FileInfo
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// isProtectedName reports whether an element of a path is a name that is guarded, under
// every name that some file system takes for the same.
func (g GuardedFiles) isProtectedName(element string) bool {
	element = disk.FoldName(element)
	is := func(name string) bool { return disk.SameFoldedName(element, filepath.Base(name)) }
	return slices.ContainsFunc(protected, is) || slices.ContainsFunc(g.Names, is) ||
		strings.HasPrefix(element, ".env") || strings.HasPrefix(element, "env~")
}

// workflow reports whether elements lead into what GitHub runs.
func workflow(elements []string) bool {
	for i := range elements[1:] {
		if disk.SameName(elements[i], ".github") && disk.SameName(elements[i+1], "workflows") {
			return true
		}
	}
	return false
}

// inside returns path as seen from dir, if it is dir or below it. Names count
// as the same that some file system takes for the same.
func inside(dir, path string) (below string, ok bool) {
	if dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(folded(dir), folded(path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// insideExactly is inside for names that are the same letter for letter.
func insideExactly(dir, path string) (below string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, dir != "" && err == nil && filepath.IsLocal(rel)
}

// folded returns a clean path with every element folded.
func folded(path string) string {
	parts := strings.Split(filepath.Clean(path), string(filepath.Separator))
	for i, part := range parts {
		if i > 0 || filepath.VolumeName(path) == "" {
			parts[i] = disk.FoldName(part)
		}
	}
	return strings.Join(parts, string(filepath.Separator))
}

// elements returns the elements of a path, at least one.
func elements(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
