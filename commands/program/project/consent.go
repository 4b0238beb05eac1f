package project

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/prompt"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings"
	"gemline/settings/consent"
	"gemline/settings/trust"
	"gemline/tools/shell/program"
)

// consents are the user's decisions about the programs that a project wants to run, by
// fingerprint: the stored decisions, and the decisions of this run. They are safe for concurrent use.
type consents struct {
	record     consent.Record
	folder     func() string                       // the folder that the decisions are about
	readStored func() error                        // reads the stored decisions, once
	config     func() (config, elsewhere []string) // see [configPaths], once

	mu             sync.Mutex
	given          map[string]consent.Rights
	protectedPaths map[string]bool // files and directories of programs that may run with all rights
	outdated       bool            // a stored fingerprint has an earlier form

	links struct { // the last search for hard links, which may be slow
		mu       sync.Mutex
		of, hard []string // the paths and roots, and the result
	}
}

// newConsents returns the consents for the folder. They are read at the first use.
func newConsents(o *Options) *consents {
	a := &consents{record: consent.RecordOf(o.Paths), folder: func() string { return o.Trust.Folder },
		given: map[string]consent.Rights{}, protectedPaths: map[string]bool{}, config: sync.OnceValues(func() (config, elsewhere []string) { return configPaths(o) })}
	a.readStored = sync.OnceValue(func() error {
		if o.Trust.State != trust.Trusted {
			return nil
		}
		kept, before, err := a.record.Rights(o.Trust.Folder)
		a.add(kept)
		a.outdated = before
		return err
	})
	return a
}

// An item is a program that a folder brings.
type item struct {
	name        string                           // for notices
	ofProject   bool                             // the project brings it, and not the user
	consent     question.ConsentItem             // for the question, without what the item starts
	findStarted func() (consent.Started, string) // finds the files that the item starts now, with their fingerprint
	confined    bool                             // it runs confined, whatever the user agrees to
}

// granted returns the rights that the user gave an item in its present form, "" if the user has
// not decided. The user's own items have all rights.
func (a *consents) granted(i item) consent.Rights {
	if !i.ofProject {
		return consent.All
	}
	_, print := i.findStarted()
	return a.rightsOf(print)
}

// rights returns the rights of an item that is about to start. If it starts with all rights, its
// files in the project are protected from then on, also if the user configured the item.
func (a *consents) rights(i item) consent.Rights {
	s, print := i.findStarted()
	r := consent.All
	if i.ofProject {
		r = a.rightsOf(print)
	}
	if r == consent.All {
		a.protect(s)
	}
	return r
}

// rightsOf returns the rights that were given to a fingerprint.
func (a *consents) rightsOf(print string) consent.Rights {
	a.readStored() // callers that need the record print its error
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.given[print]
}

// undecided returns the items that the user has not decided about.
func (a *consents) undecided(items ...item) (list []undecided) {
	for _, i := range items {
		if a.granted(i) != "" {
			continue
		}
		s, print := i.findStarted()
		w := undecided{i.consent, print}
		if w.Files = append(w.Files, s.Files...); !i.confined {
			w.Only = s.Unsure
		}
		list = append(list, w)
	}
	return list
}

// protect protects files of the project that start with all rights from changes.
func (a *consents) protect(s consent.Started) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, path := range s.ProtectedPaths() {
		a.protectedPaths[path] = true
	}
}

// guardedPaths returns the files and directories that confined programs can't change, and that
// tools change only with approval. They are files of programs with all rights, other paths to the
// configuration of gemline and git, and hard links to either in roots.
func (a *consents) guardedPaths(roots []string) []string {
	config, elsewhere := a.config()
	a.mu.Lock()
	runs := slices.Sorted(maps.Keys(a.protectedPaths))
	a.mu.Unlock()
	a.links.mu.Lock()
	defer a.links.mu.Unlock()
	if of := slices.Concat(runs, roots); !slices.Equal(of, a.links.of) {
		real := lists.Map(roots, disk.ResolveLinks)
		inside := lists.Filter(elsewhere, func(path string) bool { return disk.InsideAny(real, disk.ResolveLinks(path)) })
		a.links.of, a.links.hard = of, disk.HardLinks(slices.Concat(config, inside, runs), real)
	}
	return slices.Concat(runs, elsewhere, a.links.hard)
}

// configPaths returns the configuration of gemline and git, and other paths through which it can be
// changed: the files of [namedConfig], and targets of links in the user's directory.
func configPaths(o *Options) (config, elsewhere []string) {
	config = []string{o.Paths.Folder(".git/config"), o.Paths.Folder(".git/hooks")}
	for _, dir := range []string{o.Paths.User(), o.Paths.Workspace()} {
		entries, _ := os.ReadDir(dir) // the directory may not exist
		for _, e := range entries {
			if slices.Contains([]string{"tmp", "history", "worktrees"}, e.Name()) {
				continue
			}
			config = append(config, filepath.Join(dir, e.Name()))
			if dir == o.Paths.User() {
				elsewhere = append(elsewhere, disk.LinkTargets(filepath.Join(dir, e.Name()))...)
			}
		}
	}
	for _, path := range namedConfig(o) {
		elsewhere = append(append(elsewhere, path), disk.LinkTargets(path)...)
	}
	return config, elsewhere
}

// namedConfig returns the configuration of gemline that flags, settings and variables name, inside
// and outside of the workspace.
func namedConfig(o *Options) (paths []string) {
	named := slices.Concat(o.Flags.Policy, o.Flags.AdminPolicy, o.userSettings.PolicyPaths, o.userSettings.AdminPolicyPaths,
		[]string{trust.Folders(o.Paths, o.Env.Lookup).Path, prompt.OverridePath(o.Env.Getenv("GEMINI_SYSTEM_MD"), promptEnvironment(o))})
	for _, source := range settings.Sources(o.Paths, o.Env.Process.Lookup, false) {
		named = append(named, source.Path)
	}
	for _, path := range named {
		if path != "" {
			paths = append(paths, userDirs{o}.resolve(path))
		}
	}
	return paths
}

// workspaceRoots returns the directories of the workspace at the start of the run.
func workspaceRoots(o *Options) []string {
	return append([]string{o.Paths.Cwd}, lists.Map(o.Settings.IncludeDirs, o.Paths.Folder)...)
}

// startedFiles finds the project's files that a program starts: by command lines (texts), or by a
// program and its arguments, in a directory with the variables of env.
func startedFiles(o *Options, dir string, env map[string]string, argv []string, texts ...string) consent.Started {
	return startOf(o, dir, env, argv, texts...).Find()
}

// startOf returns how a program starts, for [startedFiles].
func startOf(o *Options, dir string, env map[string]string, argv []string, texts ...string) consent.Start {
	s := consent.Start{Texts: texts, Argv: argv, Dir: dir, User: o.Env.Getenv, Roots: workspaceRoots(o)}
	for _, name := range []string{"GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR"} {
		s.Vars = append(s.Vars, name+"="+o.Paths.Cwd)
	}
	s.Env = append(lists.Filter(o.Env.projectEnviron(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return program.IsSteering(name)
	}), sortedVariables(env)...)
	return s
}

// sortedVariables returns variables as NAME=value, in the order of the names.
func sortedVariables(env map[string]string) []string {
	return lists.Map(slices.Sorted(maps.Keys(env)), func(name string) string { return name + "=" + env[name] })
}

// add stores rights by fingerprint.
func (a *consents) add(given map[string]consent.Rights) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(a.given, given)
}

// agreedByFlag reports whether the command line or the environment trusts the folder. That counts
// as consent to an item if no user can be asked. The consent lasts for this run.
func agreedByFlag(o *Options, i item) bool {
	why := o.Trust.Why
	by := o.Trust.State == trust.Trusted && !o.User.AsksForTrust() &&
		(strings.HasPrefix(why, "--") || strings.HasPrefix(why, "GEMINI_CLI_TRUST_WORKSPACE="))
	if by {
		_, print := i.findStarted()
		o.consents.add(map[string]consent.Rights{print: consent.Confined})
	}
	return by
}

// howAgreed says how to consent to a project's programs. A session that asks has asked already.
func howAgreed(o *Options) string {
	if o.User.AsksForTrust() {
		return "; the next session asks again"
	}
	return "; a session at a terminal asks, --skip-trust agrees for one run"
}

// PrintNotAgreed prints what a run leaves out of a project because nobody has agreed to it, each
// by the function for its kind.
func PrintNotAgreed(o *Options, notify func(kind string) func(string)) {
	o.Hooks().printNotAgreed(notify("hooks"))
	o.servers(func(string) {}).printNotAgreed(notify("servers"))
	o.Agents().printNotAgreed(notify("agents"))
	o.loadDiscovery(notify("settings"))
	o.found.discovery.printNotAgreed(o, notify("settings"))
	o.loadCheck(notify("settings"))
}

// printNotAgreed prints which items do not run because nobody has agreed to them.
func printNotAgreed(o *Options, what string, items []item, notify func(string)) {
	left := lists.Filter(items, func(i item) bool {
		return i.ofProject && o.consents.rights(i) == "" && !agreedByFlag(o, i)
	})
	if len(left) > 0 {
		names := lists.Map(left, func(i item) string { return text.OneLine(i.name, MaxNameLength) })
		notify(text.OneLine(what+", since nobody has agreed to their present form: "+strings.Join(names, ", "), MaxNoticeLength) + howAgreed(o))
	}
}

// An undecided is a program of the project that the user has not decided about. Its fingerprint is
// taken before the question: a later change makes it another item.
type undecided struct {
	question.ConsentItem
	print string
}

// shown returns the item for the question.
func (w undecided) shown() question.ConsentItem { return w.ConsentItem }

// A consentFunc asks whether a folder's items may run, as a [Consenter] does.
type consentFunc func(ctx context.Context, folder string, wishes []question.ConsentItem) (question.Consent, error)

// ask asks for consent to items, and stores the answer unless it decides nothing.
func (a *consents) ask(ctx context.Context, ask consentFunc, wishes []undecided, notify func(string)) error {
	if len(wishes) == 0 {
		return nil
	}
	if a.outdated {
		notify("former agreements of this folder are asked about once more: an agreement is about all files that run now")
	}
	answer, err := ask(ctx, a.folder(), lists.Map(wishes, undecided.shown))
	if err == nil {
		a.store(ctx, wishes, answer, notify)
	}
	return err
}

// store writes the answer to the record, unless it decides nothing.
func (a *consents) store(ctx context.Context, wishes []undecided, answer question.Consent, notify func(string)) {
	rights := map[question.Consent]consent.Rights{question.RunConfined: consent.Confined, question.RunFree: consent.All,
		question.NeverRun: consent.None}[answer]
	if rights == "" {
		return
	}
	given := map[string]consent.Rights{}
	for _, w := range wishes {
		given[w.print] = rights
		if rights == consent.All && w.Only != "" {
			given[w.print] = consent.Confined
		}
	}
	if err := a.record.Store(ctx, a.folder(), given); err != nil {
		notify(notSaved(err))
	}
	a.add(given)
}

// notSaved says that a decision lasts for this run only.
func notSaved(err error) string { return fmt.Sprintf("the decision was not saved: %v", err) }
