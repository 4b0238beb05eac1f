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

// GuardedFiles says which files need approval for each edit: their content steers later
// conversations, or other programs run it.
type GuardedFiles struct {
	// Names are the names of context files, which are guarded beside the built-in names. Only the
	// last element of each counts.
	Names []string

	// Roots returns the directories of the workspace. Inside them, each element of a path counts;
	// elsewhere only the last element.
	Roots func() []string

	// Own are the directories of gemline's own configuration, without the directories in Except,
	// which have a directory for each project. A file in Except with a name in State nevertheless
	// belongs to the configuration, since gemline reads the file later; a name after "*/" is in
	// the directories of projects.
	Own, Except, State []string

	// Programs are the directories in which programs are searched.
	Programs []string

	// Notes are real paths. They and all files below them are guarded like context files.
	Notes []string

	// Agreed returns the files and directories that the user has allowed to run with all rights.
	Agreed func() []string
}

// protected are the names, in any case, of files and whole directories that configure gemline or
// other tools of the user.
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

// roots returns the directories of the workspace.
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

// A guardedApprover offers no grant that the guard would ignore, and asks no question that the
// guard can answer.
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
	// A running call requests more rights.
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

// always names the target of q that needs approval in every mode, "" if there is none.
func (g guard) always(q engine.Proposal) string {
	switch {
	case g.edits(q, g.files.isOwn):
		return "gemline's own configuration"
	case q.Intent.Plan.Confined && len(q.Intent.Plan.Rights.Write) == 0: // these files are read-only for the command
	case g.edits(q, g.files.isAgreed), g.files.Agreed != nil && opens(q, g.files.Agreed()):
		return "a file that runs with all the user's rights"
	}
	return ""
}

// protects reports whether the file at path is guarded. For a plan in plan mode only the file's
// own name counts, not the names of its directories.
func (g guard) protects(path string) bool {
	if g.policy.Mode() == Plan && g.policy.Plans != nil && g.policy.Plans(path) {
		return g.files.isProtectedName(filepath.Base(path))
	}
	return g.files.protects(path)
}

// opensPrograms reports whether q requests write access to the user's programs or their
// configuration, or to a parent directory.
func (g guard) opensPrograms(q engine.Proposal) bool {
	return opens(q, g.files.Programs) || slices.ContainsFunc(q.Intent.Plan.Rights.Write, func(path string) bool {
		return slices.ContainsFunc(elements(path),
			func(name string) bool { return name == ".config" || g.files.isProtectedName(name) })
	})
}

// opens reports whether q requests write access to one of places, below it, or to a parent
// directory.
func opens(q engine.Proposal, places []string) bool {
	return slices.ContainsFunc(q.Intent.Plan.Rights.Write, func(path string) bool {
		return slices.ContainsFunc(places, func(place string) bool {
			return insideFollowed(place, path) || holds(path, place)
		})
	})
}

// holds reports whether the directory dir contains a place, or a link on the way to it.
func holds(dir, place string) bool {
	return slices.ContainsFunc(disk.Way(place), func(at string) bool { return insideFollowed(dir, at) })
}

// edits reports whether q edits, or requests write access to, a file for which is returns true.
// It checks the path of the file and the resolved path.
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

// isProtectedFile reports whether path, or a parent directory, is a guarded file of a directory
// above it under another name: an unknown alias of the file system, a hard link or a mount. It
// also finds targets of links in gemline's own directory.
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

// GuardsName reports whether the file at a path in the workspace is guarded by its last element,
// or is in one of Notes.
func (g GuardedFiles) GuardsName(path string) bool {
	if slices.ContainsFunc(g.Notes, func(dir string) bool {
		return slices.ContainsFunc(g.roots(), func(root string) bool { _, in := insideExactly(dir, filepath.Join(root, path)); return in })
	}) {
		return true
	}
	parts := elements(path)
	return g.isProtectedName(parts[len(parts)-1]) || len(parts) > 1 && workflow(parts[len(parts)-2:])
}

// files returns the file info of the existing files among paths.
func files(paths []string) []os.FileInfo {
	var all []os.FileInfo
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// isProtectedName reports whether an element of a path is a guarded name, or a name that some
// file system treats as equal.
func (g GuardedFiles) isProtectedName(element string) bool {
	element = disk.FoldName(element)
	is := func(name string) bool { return disk.SameFoldedName(element, filepath.Base(name)) }
	return slices.ContainsFunc(protected, is) || slices.ContainsFunc(g.Names, is) ||
		strings.HasPrefix(element, ".env") || strings.HasPrefix(element, "env~")
}

// workflow reports whether a path leads to a GitHub workflow or action.
func workflow(elements []string) bool {
	for i := range elements[1:] {
		if disk.SameName(elements[i], ".github") && disk.SameName(elements[i+1], "workflows") {
			return true
		}
	}
	return false
}

// inside returns path relative to dir, if it is dir or below it. Names are equal if any file
// system treats them as equal.
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

// insideExactly is inside with an exact comparison of names.
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
