package front

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gemline/commands/cli"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings/trust"
	"gemline/tools/checkpoint"
	"gemline/tools/launch"
	"gemline/tools/workspace"
)

// An inspection finds the parts of a project for sub-commands. It starts nothing. A failure is an
// error only of the sub-commands that need the missing part.
type inspection struct {
	opts           *project.Options
	run            *Run
	launcher       func() (*launch.Launcher, error)
	findOnce       func() (findings, error)
	problemsOnce   func() []cli.Problem
	problemsListed atomic.Bool                     // Problems was called, so its caller prints the problems of rules
	madeLauncher   atomic.Pointer[launch.Launcher] // the result of launcher, nil before a call
}

// findings are the rules of a run, and the directories that it works in.
type findings struct {
	policy    *policy.Policy
	workspace *workspace.Workspace
}

// newInspection returns an inspection that has read nothing yet. It is safe for concurrent use.
func newInspection(r *Run) *inspection {
	s := &inspection{opts: r.Options, run: r}
	s.launcher = sync.OnceValues(func() (*launch.Launcher, error) {
		l, err := project.NewLauncher(r.Options)
		s.madeLauncher.Store(l)
		return l, err
	})
	s.findOnce = sync.OnceValues(s.find)
	s.problemsOnce = sync.OnceValue(s.findProblems)
	return s
}

// Close closes the launcher, if there is one.
func (s *inspection) Close() {
	if l := s.madeLauncher.Load(); l != nil {
		l.Close()
	}
}

// find returns the rules and directories of a run.
func (s *inspection) find() (v findings, err error) {
	if v.workspace, err = s.openWorkspace(s.opts.Paths.Expected().Temp); err != nil {
		return v, err
	}
	warn := s.unlisted()
	text.Each(v.workspace.Ignore.Problems(), warn)
	l, err := s.launcher()
	if err != nil {
		l = &launch.Launcher{}
	}
	if v.policy, err = project.NewPolicy(s.opts, l, !s.opts.User.Interactive, warn, s.run.notify); err == nil {
		v.policy.Roots = v.workspace.Roots
	}
	return v, err
}

// openWorkspace opens the directories of a run, whose stored state is at temp.
func (s *inspection) openWorkspace(temp string) (*workspace.Workspace, error) {
	if s.opts.Trust.State < trust.Unneeded {
		s.opts.Settings.Confine()
	}
	return project.NewWorkspace(s.opts, temp, nil, s.unlisted())
}

// unlisted returns a function that prints a warning, unless Problems has already listed it.
func (s *inspection) unlisted() func(string) {
	if s.problemsListed.Load() {
		return func(string) {}
	}
	return s.run.notify
}

// Rules implements [cli.Project].
func (s *inspection) Rules() (*policy.Policy, error) {
	v, err := s.findOnce()
	return v.policy, err
}

// Trial implements [cli.Project].
func (s *inspection) Trial(ctx context.Context, headless bool) (*cli.Trial, error) {
	if _, err := s.findOnce(); err != nil { // the error says what is wrong with the rules
		return nil, err
	}
	switch err := s.opts.Trust.Refuse(); {
	case err == nil:
	case headless:
		s.run.notify(err.Error() + "; a run without a user ends here, with code 55")
	case s.opts.Trust.State == trust.Unknown:
		s.run.notify(err.Error() + "; a session asks about it first")
	}
	o := s.opts.Copy(!headless)
	p, err := project.OpenTrial(o, s.opts.Paths.Expected())
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "gemline-trial-")
	if err != nil {
		p.Close()
		return nil, err
	}
	end := func() { os.RemoveAll(scratch); p.Close() }
	c := session.Config{Trial: true, Scratch: scratch, Tally: ending.NewTally()}
	if !headless {
		c.Approver = &question.Headless{} // no user is asked
	}
	t, err := session.Begin(ctx, p, c)
	if err != nil {
		end()
		return nil, err
	}
	if p.MCP.Servers != nil {
		p.MCP.Servers.Start()
		p.MCP.Servers.Wait(ctx, time.Duration(p.Options.Settings.ConnectSeconds)*time.Second)
	}
	return &cli.Trial{Tools: t.Tools.Toolset, Policy: t.Rules.Policy, Offers: t.Rules.Offers, Explain: t.Rules.Explain,
		Close: func() { t.Close(); end() }}, nil
}

// Launcher implements [cli.Project].
func (s *inspection) Launcher() (*launch.Launcher, error) { return s.launcher() }

// Keeper implements [cli.Project].
func (s *inspection) Keeper() (kept *cli.Kept, err error) {
	cfg := checkpoint.Config{Ledger: s.opts.Ledger, Except: project.UntrackedDirs(s.opts),
		Session: func() string { return "" }, Hide: s.opts.Secrets.Text, Notify: s.run.notify}
	store := s.opts.Paths.Expected() // a folder without a session has nothing to undo
	cfg.Dir = store.History()
	if cfg.Workspace, err = s.openWorkspace(store.Temp); err != nil {
		return nil, err
	}
	k := checkpoint.New(cfg)
	return &cli.Kept{Keeper: k, Rel: cfg.Workspace.Rel, Done: k.Close}, nil
}

// Problems implements [cli.Project].
func (s *inspection) Problems() []cli.Problem {
	s.problemsListed.Store(true)
	return s.problemsOnce()
}

// findProblems returns the problems of the directory's files.
func (s *inspection) findProblems() []cli.Problem {
	l, err := s.launcher()
	if err != nil {
		l = &launch.Launcher{}
	}
	return append(endingProblem("sandbox", err), problems(s.opts, l)...)
}
