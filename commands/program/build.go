package program

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/memory"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact"
	"gemline/engine/redact/wrap"
	"gemline/engine/tally"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/tools"
	"gemline/tools/shell"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// A session is everything one run of the program works with.
type session struct {
	os          Process
	flags       *settings.Flags
	settings    *settings.Settings
	own         *settings.Settings // what they are without the project's
	resumed     []string           // directories that the session which is gone on with worked in
	warnings    []string           // about the settings, told once
	idle        []settings.Unused  // what is set up and not in use yet
	unread      error              // why the settings are not what the files mean; a run has ended with it
	trust       settings.Trust
	dotenv      map[string]string
	paths       settings.Paths
	project     settings.Project
	interactive bool
	json        *os.File // of --json-fd, nil without
	count       *tally.Tally
	budget      *limit.Budget
	whole       *limit.Budget // of the batch that this is an item of, else nil
	policy      *policy.Policy
	notify      func(string)
	confirm     func(string)      // of what is no warning; nil is notify
	kept        func() string     // tells once what commands are not given
	secrets     *redact.Redactor  // what is kept out of all that is stored, told and sent
	demand      *repl.Demand      // nil if any answer will do
	broken      func(error)       // told that standard output is gone
	output      *repl.Destination // nil for standard output
	ledger      *disk.Ledger      // of the files that are being written

	workspace *workspace.Workspace
	over      *workspace.Overlay // what is written to in place of files, if not nil
	jobs      *shell.Jobs
	shell     shell.Settings
	pen       *pen // what holds commands
	web       *web.Fetcher
	env       tools.Env
	gives     func(context.Context, engine.Proposal) bool // whether a call would run unasked
	rehearsal *tools.Rehearsal                            // of a run that changes nothing, else nil
	tools     engine.Tools
	setup     model.Setup
	generator engine.Generator
	aside     engine.Generator // for what is asked beside the conversation
	reach     model.Reach      // what the names of models stand for
	memory    *memory.Memory
	journal   *journal.File         // nil if there is no place for it
	past      *journal.Conversation // that is gone on with, else nil
	system    string                // the system instruction, if not our own
	alone     bool                  // the model works without tools
	trial     bool                  // the journal is told nothing
	engine    *engine.Engine
	shown     atomic.Pointer[repl.Screen]
	unpaid    bool          // no key is known that pays for requests
	heard     atomic.Int64  // when something last came from the model's server
	left      atomic.Bool   // the run did not end when it was told to
	app       *commands.App // of a session
	typed     *input.Shell  // the commands that the user types in a session
	closers   []func()
}

// build makes the owners, in the order in which they need each other.
func (s *session) build(ctx context.Context, approver engine.Approver) error {
	if err := s.govern(); err != nil {
		return err
	}
	past, err := s.open()
	if err != nil {
		return err
	}
	if err := s.work(); err != nil {
		return err
	}
	s.equip()
	if err := s.limit(); err != nil {
		return err
	}
	if err := s.ask(); err != nil {
		return err
	}
	if err := s.structure(); err != nil {
		return err
	}
	if err := s.instruct(); err != nil {
		return err
	}
	s.converse(approver, past)
	return ctx.Err()
}

// instruct finds out whether the system instruction can be had: a file of the
// user's that can't be used is no accident.
func (s *session) instruct() error {
	if s.getenv("GEMINI_SYSTEM_MD")+s.getenv("GEMINI_WRITE_SYSTEM_MD") == "" {
		return nil
	}
	if _, err := prompt.System(s.prompt()); err != nil {
		return &input.Error{Message: err.Error(), Err: err}
	}
	return nil
}

// govern says what is allowed.
func (s *session) govern() (err error) {
	p, err := s.enclosure() // before the warnings, since what is wrong may be refused
	for _, w := range s.warnings {
		s.notify(w)
	}
	s.confine()
	if err != nil {
		return err
	}
	if err := s.supported(); err != nil {
		return err
	}
	s.enclose(p)
	s.policy, err = s.rules(!s.answered())
	return err
}

// open finds the session that is gone on with, or begins another.
func (s *session) open() ([]*genai.Content, error) {
	o, err := journal.Open(s.sessions(), journal.Choice{Resume: s.flags.Resume.Set, Which: s.flags.Resume.Value,
		Session: s.flags.Session, ID: s.flags.SessionID, Import: s.flags.SessionFile})
	if err != nil {
		return nil, &input.Error{Message: err.Error(), Err: err}
	}
	for _, c := range o.History {
		wrap.Content(c, func(text string) string { s.secrets.Recall(text); return text })
	}
	if o.Fresh {
		s.notify("there is no session to resume; this is a new one")
	}
	s.journal, s.past = o.File, o.From
	s.closers = append(s.closers, func() { s.journal.Close() })
	s.resumed = o.Directories
	s.settings.IncludeDirs = append(s.settings.IncludeDirs, o.Directories...)
	return o.History, nil
}

func (s *session) sessions() journal.Config {
	return journal.Config{Dir: s.project.Chats(), ProjectHash: s.project.Hash}
}

// settleIn makes the workspace.
func (s *session) settleIn() (err error) {
	s.workspace, err = workspace.New(workspace.Config{Roots: []string{s.paths.Cwd}, Temp: s.project.Temp, Overlay: s.over, Ledger: s.ledger, Secrets: s.keptSecret,
		RespectGit: s.settings.RespectGit, RespectGemini: s.settings.RespectGemini, IgnoreFiles: s.settings.IgnoreFiles})
	if err != nil {
		return err
	}
	for _, dir := range s.settings.IncludeDirs {
		err := s.imposed(dir)
		if err == nil {
			err = s.workspace.Add(s.paths.Folder(dir))
		}
		if err != nil {
			s.notify(fmt.Sprintf("the directory is not added: %v", err))
		}
	}
	for _, w := range s.workspace.Complaints() {
		s.notify(w)
	}
	return nil
}

// imposed returns an error if only the project's settings name a directory to
// work in, and the user's secrets are there: whoever trusts a directory that
// others are in as well has not seen what each of them says.
func (s *session) imposed(dir string) error {
	if slices.Contains(s.own.IncludeDirs, dir) || slices.Contains(s.resumed, dir) {
		return nil
	}
	path := s.paths.Folder(dir)
	secret := append(s.hidden(), s.paths.Home, s.paths.User())
	i := slices.IndexFunc(secret, func(at string) bool {
		return at != "" && (disk.Inside(path, s.paths.Folder(at)) || at != s.paths.Home && disk.Inside(s.paths.Folder(at), path))
	})
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%s: a project can't add it, since %s is private; gemline --include-directories can", settings.EscapeLine(path), settings.EscapeLine(secret[i]))
}

// work makes the workspace and what commands run in.
func (s *session) work() (err error) {
	if s.flags.Patch || s.flags.DryRun {
		s.over = &workspace.Overlay{}
	}
	if err = s.settleIn(); err != nil {
		return err
	}
	s.shell = shell.Settings{
		Environ:    s.os.Environ(),
		Inactivity: time.Duration(max(0, s.settings.Inactivity)) * time.Second,
		PTY:        s.interactive && s.settings.Terminal,
		Pager:      s.settings.Pager,
		Reveal:     !s.settings.Redact, Allowed: s.settings.AllowedVars, Blocked: s.settings.BlockedVars,
	}
	s.web = s.fetcher()
	s.jobs = shell.NewJobs(s.paths.User("tmp", "background-processes"))
	s.jobs.Secrets = s.secrets
	s.kept = once(s.withheld)
	s.closers = append(s.closers, s.jobs.Close)
	return nil
}

// fetcher makes what fetches pages: by the user's proxy, if there is one, and
// with the certificates that the API is trusted by.
func (s *session) fetcher() *web.Fetcher {
	proxies := model.ProxyFrom(s.getenv)
	cfg := web.Config{UserAgent: "gemline/" + cmp.Or(s.os.Version, "0"),
		Proxy: func(u *url.URL) (*url.URL, error) { return proxies.ProxyFunc()(u) }}
	if names := model.CAsFrom(s.getenv); len(names) > 0 {
		cfg.CAs = func() (*x509.CertPool, error) {
			pool, _ := model.Trust(names) // what can't be read is told with the first request
			return pool, nil
		}
	}
	return web.New(cfg)
}

// equip makes what belongs to one conversation: the tools and the memory.
func (s *session) equip() {
	if dirs := s.workspace.Roots()[1:]; len(dirs) > 0 {
		if err := s.journal.SetDirectories(dirs); err != nil {
			s.notify(fmt.Sprintf("the directories were not saved with the session: %v", err))
		}
	}
	s.env = tools.Env{
		Workspace: s.workspace,
		Jobs:      s.jobs,
		Shell:     s.shell,
		Secrets:   s.secrets,
		Kept:      s.kept,
		Outputs: func() string {
			return filepath.Join(s.project.Temp, "tool-outputs", "session-"+s.journal.ID())
		},
		Threshold: s.settings.Threshold,
		Ripgrep:   s.settings.Ripgrep,
		Model:     s.modelName,
		Web:       s.web, Direct: s.settings.DirectWeb,
		Ask: func(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
			return s.aside.Generate(ctx, req)
		},
		Helper: func() string { return s.reach.Resolve("flash") },
	}
	if s.pen.sandbox != nil {
		s.env.Sandbox, s.env.Profile, s.env.Offline = s.pen.sandbox, s.profile, s.pen.offline
		s.env.Gives = func(ctx context.Context, q engine.Proposal) bool { return s.gives != nil && s.gives(ctx, q) }
	}
	if s.settings.WriteTodos {
		s.env.Todos = &tools.Todos{}
	}
	s.memory = s.remember()
	plain := func(text string) bool { return output.Visible(text) == text }
	s.rehearsal = tools.Rehearse(s.workspace, s.over, s.flags.DryRun, plain)
	if s.alone {
		return
	}
	s.tools = s.rehearsal.Tools(wrap.Tools(tools.WithMemory(tools.New(s.env), s.memory.Discover), s.secrets))
	s.tools = journal.Durable(s.tools, s.sync)
}

// collected returns what a run would have done that changes nothing.
func (s *session) collected() repl.Collected {
	c := repl.Collected{Patch: s.rehearsal.Patch()}
	if !s.flags.DryRun {
		return c
	}
	c.Planned = []repl.Planned{}
	for _, step := range s.rehearsal.Steps() {
		c.Planned = append(c.Planned, repl.Planned(step))
	}
	return c
}

// remember makes the memory that holds the context files.
func (s *session) remember() *memory.Memory {
	cfg := memory.Config{User: s.paths.User(), Roots: s.trusted, Names: s.settings.FileNames,
		Foreign:   func(path string) string { return settings.Foreign(path, s.paths.Cwd) },
		Undecided: func() bool { return s.trust.State == settings.Unneeded },
		Markers:   append([]string{}, s.settings.Markers...), // none is not the default
		Flat:      s.settings.ImportFormat == "flat", Withheld: workspace.Withheld, Ledger: s.ledger,
		Warn: func(text string) { s.notify(text) }}
	if s.project.Temp != "" {
		cfg.Private = filepath.Join(s.project.Temp, "memory")
	}
	if s.settings.Extensions {
		cfg.Extensions = func() (files []memory.Extra, warnings []string) {
			list, warnings := s.installed()
			for _, x := range list {
				for _, path := range x.ContextFiles {
					if x.Active {
						files = append(files, memory.Extra{Path: path, Within: x.Dir})
					}
				}
			}
			return files, warnings
		}
	}
	return memory.New(cfg)
}
