// Gemline is a coding agent for plain terminals.
//
// This file reads the world (arguments, environment, streams), builds the
// owners of everything, runs a session or a single prompt, and turns what went
// wrong into an exit code. No other file touches the process, and nothing else
// knows everything, which is why this one is long: it reads from top to bottom
// in the order in which things happen.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"
	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/memory"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/schema"
	"gemline/engine/tally"
	"gemline/repl"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/tools"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// What the build sets.
var (
	version = "dev"
	commit  string
	date    string // of the commit, RFC 3339
)

// What the program itself writes to. It is not what os.Stdout and os.Stderr
// are, once stray has been called.
var stdout, stderr = kept(os.Stdout), kept(os.Stderr)

func kept(f *os.File) *os.File { file := *f; return &file }

// stray sends to f what libraries write to standard output and standard error,
// whenever they took hold of these. A crash is still seen: the runtime does
// not write to files.
func stray(f *os.File) { *os.Stdout, *os.Stderr = *f, *f }

func main() {
	code, ok := shell.First(os.Args[1:], [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
	if !ok {
		code = start(os.Args[1:])
	}
	os.Exit(code)
}

// start runs the program and returns its exit code. Whatever happens, the
// reporter has the last word, once.
func start(args []string) (code int) {
	log.SetOutput(io.Discard) // where libraries write what nobody asked for
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		stray(null)
	}
	s, command, err := begin(args)
	managed := command != nil
	shell.Conceal() // where it can't be had, children still lack the keys
	s.interactive = err == nil && s.flags.Interactive(isTerminal(os.Stdin), isTerminal(stdout), os.Getenv)
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	if d := time.Duration(s.flags.Timeout); d > 0 && !s.converses() && s.flags.Batch == "" {
		late, cancel := context.WithTimeoutCause(ctx, d, limit.Timeout(d))
		defer cancel()
		ctx = late
	}
	reporter := sync.OnceValue(func() repl.Reporter { return s.reporter(managed, stop) })
	defer listen(ctx, stop, s.interactive, func(err error) { // until the last word is written
		defer func() { recover() }() // nobody is left to tell
		s.restore()
		s.finish(ctx, reporter(), err)
	})()
	defer func() {
		if v := recover(); v != nil {
			if s.flags.Debug {
				fmt.Fprintf(stderr, "%v\n%s\n", v, debug.Stack())
			}
			code = s.finish(ctx, reporter(), &crash{value: v})
		}
	}()
	if err == nil {
		err = s.promise(managed)
	}
	switch {
	case err != nil:
		s.settle(managed) // which format do the settings say?
	case !s.flags.Version && !s.flags.Help:
		err = s.settle(managed)
	}
	switch {
	case err != nil:
	case s.flags.Version || s.flags.Help || s.flags.ListSessions:
		if err = s.inform(); err == nil {
			return 0
		}
	case managed:
		if err = s.manage(ctx, reporter(), command); err == nil {
			return 0
		}
	default:
		err = s.run(ctx, reporter())
	}
	return s.finish(ctx, reporter(), err)
}

// begin returns a session that knows its command line, and the sub-command to
// carry out instead, if any. Of one that can't be parsed it knows at least
// where and how to say so.
func begin(args []string) (s *session, command []string, err error) {
	before, command, managed := settings.Subcommand(args, cli.Names())
	if managed = managed && cli.Means(command); managed {
		args = before
	} else {
		command = nil
	}
	flags, err := settings.ParseFlags(args)
	if err == nil && flags.DeleteSession != "" && !managed { // as the Gemini CLI spells it
		command = []string{"sessions", "delete", "--", flags.DeleteSession}
	}
	if err != nil {
		flags = settings.Wanted(args)
	}
	s = &session{flags: flags, settings: settings.Default(), count: &tally.Tally{Class: errorClass}}
	if fd := flags.JSONFd; fd != nil && command == nil {
		var ferr error
		if s.json, ferr = output.Descriptor(*fd); ferr != nil && err == nil {
			err = &settings.UsageError{Message: "--json-fd: " + ferr.Error()}
		}
	}
	return s, command, err
}

// promise sees to what has to hold when the run is over: what the answer is to
// be, and where it goes.
func (s *session) promise(managed bool) (err error) {
	if !managed {
		if s.demand, err = demand(s.flags); err != nil {
			return err
		}
	}
	if name := s.flags.Output; name != "" && name != "-" && s.runs(managed) {
		if s.output, err = repl.NewDestination(name, stdout); err != nil {
			return &input.Error{Message: err.Error(), Err: err}
		}
	}
	return nil
}

// reporter returns the one who tells how the run goes and ends. A sub-command
// prints its own document, and an error of one is no record of a run.
func (s *session) reporter(managed bool, stop context.CancelCauseFunc) repl.Reporter {
	s.broken = func(err error) {
		if errors.Is(err, syscall.EPIPE) {
			stop(signalled(syscall.SIGPIPE))
		}
		stop(unwritten(err))
	}
	r := repl.Report{
		Out: stdout, Err: stderr, Tally: s.count, Now: time.Now, Quiet: s.flags.Quiet, Raw: s.flags.RawOutput,
		Version: version, Dir: s.paths.Cwd, Mode: func() string { return string(s.policy.Mode()) }, Demand: s.demand,
		Broken:    s.broken,
		Unwritten: func(err error) repl.Outcome { return outcome(unwritten(err)) },
	}
	if managed {
		return repl.NewReporter("text", r)
	}
	if s.flags.Batch != "" && s.flags.Format() != "text" {
		return batch.Ending(repl.NewReporter("stream-json", r)) // a line, like those of the items
	}
	if s.output != nil {
		r.Out, r.Done = s.output, s.output.End
	}
	if s.flags.Patch || s.flags.DryRun {
		r.Collected = s.collected
	}
	if s.json != nil {
		r.JSON = s.json
	}
	return repl.NewReporter(cmp.Or(s.flags.Format(), s.settings.Format), r)
}

// runs reports whether the program answers a prompt, rather than telling
// something about itself.
func (s *session) runs(managed bool) bool {
	f := s.flags
	return !managed && !f.Version && !f.Help && !f.ListSessions && f.Batch == ""
}

// demand returns what must come of the answer, nil if any will do.
func demand(f *settings.Flags) (*repl.Demand, error) {
	switch {
	case f.JSONSchema != "":
		s, err := schema.Load(f.JSONSchema)
		if err != nil {
			return nil, &settings.UsageError{Message: "--json-schema: " + err.Error()}
		}
		return &repl.Demand{Schema: s, Repairs: f.MaxRepairs}, nil
	case f.Extract.Set:
		return &repl.Demand{Language: f.Extract.Value}, nil
	}
	return nil, nil
}

// demanded returns what must come of the answer to an item of a batch.
func (s *session) demanded(it batch.Item) (d *repl.Demand, err error) {
	f := *s.flags
	if len(it.Schema) > 0 {
		f.JSONSchema = string(it.Schema)
		json.Unmarshal(it.Schema, &f.JSONSchema) // a text names a file
	}
	if d, err = demand(&f); err != nil {
		return nil, &input.Error{Message: fmt.Sprintf("line %d: %v", it.Line, err)}
	}
	if s.flags.BatchAPI && d != nil {
		d.Repairs = 0 // each item has one request
	}
	return d, nil
}

// manage carries out a sub-command of the command line.
func (s *session) manage(ctx context.Context, reporter repl.Reporter, args []string) error {
	s.notify = func(text string) { reporter.Event(engine.Notice{Text: text}) }
	w := s.world(stdout)
	w.In, w.JSON = os.Stdin, s.flags.Format() == "json"
	switch {
	case !isTerminal(os.Stdin):
	case s.flags.NoInput:
		w.In = strings.NewReader("")
	default:
		w.Secret = typedSecret
	}
	return cli.Run(ctx, w, args)
}

// world returns what sub-commands may reach, wherever they are called.
func (s *session) world(out io.Writer) *cli.World {
	return &cli.World{Out: out, Notify: s.notify, Paths: s.paths, Lookup: s.lookup, DotEnv: s.dotenv, Flags: s.flags,
		Trusted: s.trust.State == settings.Trusted, Build: cli.ReadBuild(version, commit, date), Terminal: isTerminal(stdout), Width: columns(),
		Editor: s.editor(), Clipboard: func() string { return commands.ClipboardProgram(os.Getenv) },
		Toolset: s.offered, API: func() (model.Options, error) {
			var setup model.Setup
			err := s.pay(&setup)
			return setup.API, err
		}}
}

// offered returns the tools of a run, and what judges them, without making one.
func (s *session) offered() (engine.Tools, *policy.Policy, error) {
	if s.trust.State < settings.Unneeded {
		s.settings.Confine()
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{s.paths.Cwd}})
	if err != nil {
		return nil, nil, err
	}
	env := tools.Env{Workspace: ws, Jobs: shell.NewJobs(s.paths.User("tmp", "background-processes")), Model: s.modelName}
	if s.settings.WriteTodos {
		env.Todos = &tools.Todos{}
	}
	p := policy.New(policy.Mode(s.settings.ApprovalMode))
	p.Unattended = !s.interactive
	return tools.New(env), p, nil
}

// columns returns how wide the terminal is, 0 if there is none and nobody says.
func columns() int {
	if n, _, err := term.GetSize(int(stdout.Fd())); err == nil {
		return n
	}
	n, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return n
}

// typedSecret asks at the terminal for what is not shown.
func typedSecret(_ context.Context, question string) (string, error) {
	fmt.Fprint(stderr, question)
	defer fmt.Fprintln(stderr)
	b, err := term.ReadPassword(int(os.Stdin.Fd()))
	return string(b), err
}

// settle finds out what the user wants: what the files say, unless the
// environment, and then the command line, says otherwise. What is managed
// needs no trust, and mends broken files.
func (s *session) settle(managed bool) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working directory is gone: %w", err)
	}
	home, _ := os.UserHomeDir() // without one, nothing is kept
	s.paths = settings.NewPaths(home, os.Getenv("GEMINI_CLI_HOME"), here)
	if err := s.load(false); err != nil && !managed || s.flags.ListSessions {
		return err
	}
	s.trust, err = s.paths.Trust(s.settings, s.flags, s.lookup)
	switch {
	case managed:
		if err == nil && s.trust.State == settings.Trusted {
			s.load(true) // what is wrong with a file is for the sub-command to say
		}
		return nil
	case err != nil:
		return err
	case s.trust.State == settings.Trusted:
		err = s.load(true)
		if s.flags.Trust {
			if err := s.paths.Keep(context.Background(), s.lookup, s.trust.Folder); err != nil {
				s.warnings = append(s.warnings, unkept(err))
			}
		}
		return err
	case s.attended():
		return nil // the user is asked
	}
	return s.trust.Refuse()
}

// load reads the files of settings, the project's among them if it is trusted.
func (s *session) load(project bool) (err error) {
	s.settings, s.warnings, err = settings.Load(s.paths.Sources(os.LookupEnv, project), os.LookupEnv)
	vars, warnings := s.paths.DotEnv(s.settings, project, os.LookupEnv)
	s.dotenv, s.warnings = vars, append(s.warnings, warnings...)
	return cmp.Or(err, s.settings.Override(s.flags, s.lookup))
}

// lookup returns a variable of the environment or else of the .env file.
// Commands see only the former.
func (s *session) lookup(name string) (string, bool) {
	if v, ok := os.LookupEnv(name); ok {
		return v, true
	}
	v, ok := s.dotenv[name]
	return v, ok
}

func (s *session) getenv(name string) string {
	v, _ := s.lookup(name)
	return v
}

// enter asks about a folder that nobody has decided about, before anything of
// it is used.
func (s *session) enter(ctx context.Context, console *repl.Console) error {
	if s.trust.State != settings.Unknown {
		return nil
	}
	state, err := s.decide(ctx, console, s.trust)
	if err != nil || state != settings.Trusted {
		return err
	}
	s.trust.State = settings.Trusted
	return s.load(true)
}

// decide asks about a folder, and keeps the answer.
func (s *session) decide(ctx context.Context, console *repl.Console, t settings.Trust) (settings.State, error) {
	f := repl.Folder{Path: t.Folder, Home: s.paths.Home}
	if t.State == settings.Trusted || t.State == settings.Distrusted {
		f.Decided = t.State.String()
	}
	f.Brings, f.Caution = settings.Brief(t.Brings)
	decision, err := console.Trust(ctx, f)
	if err != nil || decision == repl.NotNow {
		return settings.Unknown, err
	}
	rule := map[repl.Decision]settings.Rule{repl.TrustFolder: settings.TrustFolder,
		repl.TrustParent: settings.TrustParent, repl.DoNotTrust: settings.DoNotTrust}[decision]
	if _, err := s.paths.Remember(ctx, s.lookup, t.Folder, rule); err != nil {
		s.notify(unkept(err))
	}
	if rule == settings.DoNotTrust {
		return settings.Distrusted, nil
	}
	return settings.Trusted, nil
}

// unkept says that a decision holds for this run only.
func unkept(err error) string { return fmt.Sprintf("the decision is not kept: %v", err) }

// permit returns what asks about a folder in the middle of a session.
func (s *session) permit(console *repl.Console) func(context.Context, string) (string, error) {
	return func(ctx context.Context, folder string) (string, error) {
		paths := settings.Paths{Home: s.paths.Home, Cwd: s.paths.Folder(folder)}
		if info, err := os.Stat(paths.Cwd); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder", paths.Cwd)
		}
		so, err := paths.Trust(s.settings, s.flags, s.lookup)
		if err != nil {
			return "", err
		}
		state, err := s.decide(ctx, console, settings.Trust{Folder: paths.Cwd, State: so.State, Brings: paths.Survey(s.settings)})
		if err != nil || state == settings.Unknown {
			return "nothing was decided", err
		}
		return state.String() + " from the next start on; this session goes on as it began", nil
	}
}

// confine holds a session in a folder that is not trusted to asking.
func (s *session) confine() {
	if s.trust.State >= settings.Unneeded {
		return
	}
	if len(s.trust.Brings) > 0 {
		s.notify("this folder is not trusted: its settings, .env, context files and all else it brings are not used; /permissions trust asks again")
	}
	if s.settings.Confine() {
		s.notify("this folder is not trusted: the approval mode is default")
	}
}

// trusted returns the directories whose context files are used.
func (s *session) trusted() []string {
	if s.trust.State < settings.Unneeded {
		return nil
	}
	roots := s.workspace.Roots()
	denied := func(dir string) bool { return dir != roots[0] && s.paths.Denied(dir, s.lookup) }
	return slices.DeleteFunc(slices.Clone(roots), denied)
}

// inform prints what needs no run.
func (s *session) inform() error {
	switch {
	case s.flags.Version:
		return cli.ReadBuild(version, commit, date).Print(stdout, s.flags.Format() == "json")
	case s.flags.Help:
		return settings.Help(stdout, cli.Commands())
	}
	project, _ := s.paths.Project(context.Background())
	asJSON := s.settings.Format == "json" || s.settings.Format == "stream-json"
	return journal.Print(stdout, project.Chats(), asJSON, time.Now())
}

// run builds what the user wants and lets it run.
func (s *session) run(ctx context.Context, reporter repl.Reporter) error {
	var perr error
	s.project, perr = s.paths.Project(ctx)
	if s.flags.PromptInteractive != "" && !s.interactive {
		return &input.Error{Message: "--prompt-interactive needs a terminal"}
	}
	s.notify = func(text string) { reporter.Event(engine.Notice{Text: text}) }
	if s.flags.Batch != "" { // standard output is for its items
		s.notify = batch.Notes(stderr, "warning: ", s.flags.Quiet)
	}
	if s.interactive {
		return s.interact(ctx)
	}
	if perr != nil {
		s.notify(perr.Error())
	}
	switch {
	case s.flags.Talks():
		return s.serve(ctx, reporter)
	case s.flags.Batch != "":
		return s.batch(ctx)
	}
	return s.once(ctx, reporter)
}

// listen lets the signals that end a program end the run instead, so that it
// can write its final record. In a session, Ctrl-C is the session's. What was
// ignored when the program began, as by nohup, stays ignored.
//
// A run that does not end soon after, or after its time is up, as when nobody
// reads what it writes, or that is told again, is left behind, and last has a
// moment to say how it ended. The signals stay caught until the process is gone:
// a terminal that goes away may be noticed before its signal comes, and the exit
// code is the same then.
func listen(ctx context.Context, stop context.CancelCauseFunc, interactive bool, last func(error)) (end func()) {
	const moment = time.Second
	signals := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
		if !signal.Ignored(sig) && (sig != os.Interrupt || !interactive) {
			signal.Notify(signals, sig)
		}
	}
	// A broken pipe is an error of a write, which is told apart by stream.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		var cause error
		select {
		case sig := <-signals:
			cause = signalled(sig.(syscall.Signal))
			stop(cause)
		case <-ctx.Done():
			cause = context.Cause(ctx)
		case <-done:
			return
		}
		if !overdue(signals, done) {
			return
		}
		said := make(chan struct{})
		go func() { defer close(said); last(cause) }()
		select {
		case <-time.After(moment):
		case <-said:
		}
		os.Exit(outcome(cause).ExitCode)
	})
	return func() { close(done); wg.Wait() }
}

// overdue waits for a run that was told to stop, and reports whether it is left
// behind: after a while, or at once if it is told again. What comes together
// with the first signal, as where a program and its group get the same one,
// tells nothing new.
func overdue(again <-chan os.Signal, done <-chan struct{}) bool {
	const soon, together = 3 * time.Second, 500 * time.Millisecond
	late, told := time.After(soon), time.Now()
	for {
		select {
		case <-again:
			if time.Since(told) > together {
				return true
			}
		case <-late:
			return true
		case <-done:
			return false
		}
	}
}

// restore leaves the terminal as it was found, whoever reads from it.
func (s *session) restore() {
	if screen := s.shown.Load(); screen != nil {
		screen.Restore()
	}
}

// A session is everything one run of the program works with.
type session struct {
	flags       *settings.Flags
	settings    *settings.Settings
	warnings    []string // about the settings, told once
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
	demand      *repl.Demand      // nil if any answer will do
	broken      func(error)       // told that standard output is gone
	output      *repl.Destination // nil for standard output

	workspace *workspace.Workspace
	over      *workspace.Overlay // what is written to in place of files, if not nil
	jobs      *shell.Jobs
	shell     shell.Settings
	env       tools.Env
	rehearsal *tools.Rehearsal // of a run that changes nothing, else nil
	tools     engine.Tools
	setup     model.Setup
	generator engine.Generator
	reach     model.Reach // what the names of models stand for
	memory    *memory.Memory
	journal   *journal.File // nil if there is no place for it
	system    string        // the system instruction, if not our own
	alone     bool          // the model works without tools
	trial     bool          // the journal is told nothing
	engine    *engine.Engine
	shown     atomic.Pointer[repl.Screen]
	app       *commands.App // of a session
	typed     *input.Shell  // the commands that the user types in a session
	closers   []func()
}

// build makes the owners, in the order in which they need each other.
func (s *session) build(ctx context.Context, approver engine.Approver) error {
	s.govern()
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
func (s *session) govern() {
	for _, w := range s.warnings {
		s.notify(w)
	}
	s.confine()
	s.policy = policy.New(policy.Mode(s.settings.ApprovalMode))
	s.policy.Unattended = !s.answered()
}

func (s *session) close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
}

// open finds the session that is gone on with, or begins another.
func (s *session) open() ([]*genai.Content, error) {
	o, err := journal.Open(s.sessions(), journal.Choice{Resume: s.flags.Resume.Set, Which: s.flags.Resume.Value,
		Session: s.flags.Session, ID: s.flags.SessionID})
	if err != nil {
		return nil, &input.Error{Message: err.Error(), Err: err}
	}
	if o.Fresh {
		s.notify("there is no session to resume; this is a fresh one")
	}
	s.journal = o.File
	s.closers = append(s.closers, func() { s.journal.Close() })
	s.settings.IncludeDirs = append(s.settings.IncludeDirs, o.Directories...)
	return o.History, nil
}

func (s *session) sessions() journal.Config {
	return journal.Config{Dir: s.project.Chats(), ProjectHash: s.project.Hash}
}

// work makes the workspace and what commands run in.
func (s *session) work() (err error) {
	if s.flags.Patch || s.flags.DryRun {
		s.over = &workspace.Overlay{}
	}
	s.workspace, err = workspace.New(workspace.Config{Roots: []string{s.paths.Cwd}, Temp: s.project.Temp, Overlay: s.over,
		RespectGit: s.settings.RespectGit, RespectGemini: s.settings.RespectGemini, IgnoreFiles: s.settings.IgnoreFiles})
	if err != nil {
		return err
	}
	for _, dir := range s.settings.IncludeDirs {
		if err := s.workspace.Add(s.paths.Folder(dir)); err != nil {
			s.notify(fmt.Sprintf("a directory to work in: %v", err))
		}
	}
	for _, w := range s.workspace.Complaints() {
		s.notify(w)
	}
	s.shell = shell.Settings{
		Environ:    os.Environ(),
		Inactivity: time.Duration(max(0, s.settings.Inactivity)) * time.Second,
		PTY:        s.interactive && s.settings.Terminal,
		Pager:      s.settings.Pager,
		Reveal:     !s.settings.Redact, Allowed: s.settings.AllowedVars, Blocked: s.settings.BlockedVars,
	}
	s.jobs = shell.NewJobs(s.paths.User("tmp", "background-processes"))
	s.closers = append(s.closers, s.jobs.Close)
	return nil
}

// equip makes what belongs to one conversation: the tools and the memory.
func (s *session) equip() {
	if dirs := s.workspace.Roots()[1:]; len(dirs) > 0 {
		if err := s.journal.SetDirectories(dirs); err != nil {
			s.notify(fmt.Sprintf("the directories are not kept with the session: %v", err))
		}
	}
	s.env = tools.Env{
		Workspace: s.workspace,
		Jobs:      s.jobs,
		Shell:     s.shell,
		Outputs: func() string {
			return filepath.Join(s.project.Temp, "tool-outputs", "session-"+s.journal.ID())
		},
		Threshold: s.settings.Threshold,
		Ripgrep:   s.settings.Ripgrep,
		Model:     s.modelName,
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
	s.tools = s.rehearsal.Tools(tools.WithMemory(tools.New(s.env), s.memory.Discover))
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
		Markers: append([]string{}, s.settings.Markers...), // none is not the default
		Flat:    s.settings.ImportFormat == "flat", Withheld: workspace.Withheld, Warn: func(text string) { s.notify(text) }}
	if s.project.Temp != "" {
		cfg.Private = filepath.Join(s.project.Temp, "memory")
	}
	if s.settings.Extensions {
		cfg.Extensions = func() (files []memory.Extra, warnings []string) {
			list, warnings := extension.Installed(extension.Config{Dir: s.paths.User("extensions"), Cwd: s.paths.Cwd,
				Only: s.flags.Extensions, Disabled: s.settings.DisabledExtensions})
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

// limit makes the budget. What tokens cost is read when somebody counts money.
func (s *session) limit() error {
	var told sync.Once
	load := sync.OnceValues(func() (limit.Prices, error) { return limit.LoadPrices(s.paths.User("prices.toml"), time.Now()) })
	prices := func() limit.Prices {
		ps, err := load()
		if err != nil {
			told.Do(func() { s.notify(err.Error()) })
		}
		if s.reach == model.ByAssist { // which is not paid by tokens
			return nil
		}
		return ps
	}
	s.count.Cost = func(u engine.Usage) (float64, string, bool) { return prices().Cost(u) }
	cfg := limit.Config{Tokens: s.flags.MaxTokens, Cost: s.flags.MaxCost, Calls: s.flags.MaxToolCalls,
		Price:  func(model string) (limit.Price, bool) { p, ok := prices()[model]; return p, ok },
		Resume: s.goOn}
	if s.flags.Batch != "" { // time and calls are each item's own
		cfg.Calls, cfg.Resume = 0, nil
	}
	if s.converses() {
		cfg.Time = time.Duration(s.flags.Timeout)
	}
	s.budget = limit.New(cfg)
	if cfg.Cost > 0 || s.json != nil || s.flags.Batch != "" || cmp.Or(s.flags.Format(), s.settings.Format) != "text" {
		_, err := load()
		return err
	}
	return nil
}

// goOn returns the command that goes on with the session, "" if there is none.
func (s *session) goOn() string {
	if s.project.Temp == "" {
		return ""
	}
	return "gemline --resume " + s.journal.ID()
}

// converses reports whether there may be more than one answer, each with its
// own time.
func (s *session) converses() bool {
	return s.interactive || s.flags.Talks()
}

// answer carries out a prompt within the budget.
func (s *session) answer(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	run := limit.Run(s.engine.Run)
	if s.whole != nil {
		run = s.whole.Watch(run)
	}
	return s.budget.Watch(run)(ctx, parts...)
}

// waiting is how long one request may be put off by a busy server in all.
const waiting = 10 * time.Minute

// ask makes the generator: the API or a recording, and what wraps it.
func (s *session) ask() error {
	setup := model.Setup{Fake: s.flags.FakeResponses, Strict: true, Record: s.flags.RecordResponses, Meter: s.budget.Generator,
		Retry: model.RetryOptions{Attempts: s.settings.MaxAttempts, Budget: waiting}}
	if d := time.Duration(s.flags.Timeout); d > 0 {
		setup.Retry.Budget = min(waiting, d)
	}
	if s.flags.FakeNonStrict != "" {
		setup.Fake, setup.Strict = s.flags.FakeNonStrict, false
	}
	if err := s.pay(&setup); err != nil {
		return err
	}
	if s.flags.Debug {
		l, err := s.debugLog()
		if err != nil {
			return err
		}
		setup.Logger, setup.API.Logger = l, l
	}
	s.setup = setup
	g, stop, err := model.Open(setup)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return &input.Error{Message: err.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	s.generator, s.closers = g, append(s.closers, stop)
	return nil
}

// structure has the generator ask for what is demanded of the answer.
func (s *session) structure() error {
	d := s.demand
	if d == nil || d.Schema == nil {
		return nil
	}
	structured, err := model.Structure(s.generator, d.Schema.JSON())
	if err != nil {
		return err
	}
	s.generator, d.Insist = structured, structured.Insist
	return nil
}

// pay finds out what pays for requests, unless a recording answers them. What
// is kept somewhere is looked for by the first request.
func (s *session) pay(setup *model.Setup) error {
	if setup.Fake != "" {
		return nil
	}
	key, warning, err := auth.ReadKey(s.flags.KeyFile)
	if err != nil {
		return err
	}
	if warning != "" {
		s.notify(warning)
	}
	c, err := auth.Choose(auth.Config{Selected: s.settings.AuthType, Enforced: s.settings.EnforcedAuth, External: s.settings.ExternalAuth,
		Key: key, KeyFrom: "--key-file", Getenv: s.getenv, DotEnv: s.dotenv, GOOS: runtime.GOOS, Request: s.settings.VertexShare, Shared: s.settings.VertexUrge})
	if err != nil {
		return err
	}
	setup.API = model.Options{APIKey: c.Key, Bearer: c.Bearer, Header: c.Header, Keyless: c.Method == auth.Gateway || c.External,
		Vertex: c.Method == auth.Vertex, CodeAssist: c.Method == auth.Compute, Project: c.Project, Location: c.Location, Quota: c.Quota,
		BaseURL: c.BaseURL, APIVersion: c.APIVersion, Version: version,
		Proxy: model.ProxyFrom(s.getenv), CAs: model.CAsFrom(s.getenv)}
	s.reach = cli.Reach(c.Method)
	if c.Account != nil {
		setup.API.Account, setup.API.Metadata = c.Account.Read, c.Account.Host
	}
	if c.Stored {
		setup.API.FindKey = func(ctx context.Context) (string, error) {
			key, _, err := auth.NewStore(s.paths.User(), s.getenv).Find(ctx, c)
			return key, err
		}
	}
	return nil
}

// debugLog returns the log of -d, which takes what libraries log, too.
func (s *session) debugLog() (*slog.Logger, error) {
	w := stderr
	if name := os.Getenv("GEMINI_DEBUG_LOG_FILE"); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, func() { f.Close() })
		w = f
	}
	log.SetOutput(w)
	stray(w)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})), nil
}

// converse makes the engine.
func (s *session) converse(approver engine.Approver, past []*genai.Content) {
	guarded, asker := policy.Guard(s.policy, approver, append(s.memory.Names(), "AGENTS.md"))
	cfg := engine.Config{
		Model:      s.reach.Resolve(cmp.Or(s.settings.Model, model.Default)),
		Generator:  s.generator,
		Tools:      s.tools,
		Policy:     s.rehearsal.Policy(guarded),
		Approver:   asker,
		MaxTurns:   s.settings.MaxTurns,
		TokenLimit: model.TokenLimit,
		System: func() string {
			if s.system != "" {
				return s.system
			}
			text, _ := prompt.System(s.prompt()) // build has seen what may be wrong
			return text
		},
		Opening: func(ctx context.Context) *genai.Content { return prompt.Opening(ctx, s.prompt()) },
	}
	if s.project.Temp != "" && !s.trial {
		cfg.Journal = s.journal
	}
	s.engine = engine.New(cfg, past...)
	s.env.Todos.Restore(past)
}

// modelName returns the name of the model that is asked.
func (s *session) modelName() string {
	if s.engine != nil {
		return s.engine.Model()
	}
	return s.reach.Resolve(cmp.Or(s.settings.Model, model.Default))
}

// prompt is what the system instruction and the opening message depend on, as
// it is at the moment.
func (s *session) prompt() prompt.Config {
	m := s.memory.Contents()
	cfg := prompt.Config{
		Interactive: s.answered(),
		Mode:        string(s.policy.Mode()),
		Git:         prompt.InRepository(s.paths.Cwd),
		Notes:       s.memory.Notes(),
		Disabled:    prompt.Disabled(s.getenv),
		SystemMD:    s.systemMD(), WriteSystemMD: s.getenv("GEMINI_WRITE_SYSTEM_MD"),
		Home:   s.paths.Home,
		Global: m.Global, Private: m.Private, Extension: m.Extension, Project: m.Project, Names: s.memory.Names(),
		Now: time.Now(), OS: runtime.GOOS, Temp: s.project.Temp, Roots: s.workspace.Roots(),
		Tree: s.settings.Tree, Ignored: s.workspace.Ignored,
	}
	for _, t := range s.tools.Tools() {
		if s.rehearsal.Policy(s.policy).Offers(t) {
			cfg.Tools = append(cfg.Tools, t.Name())
		}
	}
	return cfg
}

// systemMD returns what GEMINI_SYSTEM_MD says. Switched on without a path, it
// means a file of the project's.
func (s *session) systemMD() string {
	v := s.getenv("GEMINI_SYSTEM_MD")
	if on := strings.ToLower(v); (on == "1" || on == "true") && s.trust.State < settings.Unneeded {
		return ""
	}
	return v
}

// commands returns what the slash commands may reach.
func (s *session) commands(approver engine.Approver, out io.Writer) *commands.App {
	app := &commands.App{
		Out: out, Engine: s.engine, Policy: s.policy, Tools: s.tools, Models: s.reach, Workspace: s.workspace,
		Home: s.paths.Home, Tally: s.count, Commands: commands.Builtin(),
		Memory: s.memory, About: s.about, Todos: s.env.Todos.Lines,
		Directories: func(dirs []string) error { return s.journal.SetDirectories(dirs) },
		Manage: func(ctx context.Context, args ...string) error {
			w := s.world(out)
			if screen := s.shown.Load(); screen != nil {
				w.Secret = screen.Lines.Secret
			}
			return cli.Run(ctx, w, args)
		},
		Copy: func(ctx context.Context, text string) (string, error) {
			return commands.Clipboard(ctx, os.Getenv, text)
		},
	}
	app.Restart = func(context.Context) error {
		s.journal.Close()
		o, err := journal.Open(s.sessions(), journal.Choice{})
		if err != nil {
			return err
		}
		s.journal = o.File
		s.memory.Reload()
		s.converse(approver, nil)
		app.Engine = s.engine
		return nil
	}
	return app
}

func (s *session) about() []commands.Fact {
	return []commands.Fact{
		{Name: "version", Value: version},
		{Name: "model", Value: s.engine.Model()},
		{Name: "approval mode", Value: string(s.policy.Mode())},
		{Name: "session", Value: s.journal.ID()},
		{Name: "session file", Value: s.journal.Path()},
		{Name: "directory", Value: s.paths.Cwd},
		{Name: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "variables kept from commands", Value: cmp.Or(strings.Join(shell.Withheld(os.Environ(), s.shell), ", "), "none")},
	}
}

// files is the step that reads what @path names.
func (s *session) files() input.Files {
	return input.Files{Workspace: s.workspace, Notify: s.notify, Search: s.settings.FileSearch,
		Read: func(ctx context.Context, paths []string) ([]*genai.Part, error) {
			parts, skipped, err := tools.ReadMany(ctx, s.workspace, paths, s.memory.Discover)
			for _, sk := range skipped {
				if sk.Path == "" {
					s.notify(sk.Reason)
					continue
				}
				s.notify(fmt.Sprintf("%s is not read: %s", s.workspace.Rel(sk.Path), sk.Reason))
			}
			return parts, err
		}}
}

// once answers one prompt.
func (s *session) once(ctx context.Context, reporter repl.Reporter) error {
	defer s.close()
	approver, err := s.approver(ctx)
	if err != nil {
		return err
	}
	if err := s.build(ctx, approver); err != nil {
		return err
	}
	p, err := s.piped(ctx)
	if err != nil {
		return err
	}
	return s.reply(ctx, approver, reporter, p)
}

// reply answers the one prompt of a run.
func (s *session) reply(ctx context.Context, approver engine.Approver, reporter repl.Reporter, p repl.Prompt) error {
	app := s.commands(approver, repl.Speaker(reporter))
	runner := &repl.Once{Engine: s.engine, Reporter: reporter, Tally: s.count, Session: s.journal.ID(), Now: time.Now, FailOnDeny: s.flags.FailOnDeny,
		Ask: s.answer, Demand: s.demand, Expand: input.Chain(app.Commands.Step(app), s.files().Step)}
	if err := runner.Run(ctx, p); err != nil && !errors.Is(err, commands.ErrQuit) {
		return err
	}
	if dir := s.rehearsal.Elsewhere(); dir != "" {
		s.notify(fmt.Sprintf("the patch edits files outside of this directory: apply it in %s", dir))
	}
	return nil
}

// approver returns who decides in a run without a session: nobody, or with
// --ask-tty whoever sits at the terminal, whatever the streams are.
func (s *session) approver(ctx context.Context) (engine.Approver, error) {
	if !s.flags.AskTTY {
		return &repl.Headless{FailOnAsk: s.flags.FailOnAsk}, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, &input.Error{Message: "--ask-tty: there is no terminal to ask at", Err: err}
	}
	out := output.New(tty, output.Options{ASCII: s.settings.ASCII})
	lines, err := repl.NewLines(repl.LinesConfig{In: tty, Out: out, Screen: tty})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { lines.Close(); tty.Close() })
	console := &repl.Console{Out: out, Lines: lines, Stable: s.flags.PromptFormat == "stable", Shared: isTerminal(stdout) || isTerminal(stderr)}
	s.shown.Store(&repl.Screen{Console: console})
	return &repl.Asker{Console: console}, s.enter(ctx, console)
}

// attended reports whether anybody is there to ask.
func (s *session) attended() bool { return s.interactive || s.flags.AskTTY }

// answered reports whether the model's questions are, by a person or a program.
func (s *session) answered() bool {
	return s.attended() || s.flags.Talks() && !s.flags.NoInput
}

// serve holds a session with a program.
func (s *session) serve(ctx context.Context, reporter repl.Reporter) error {
	defer s.close()
	nobody, err := s.approver(ctx)
	if err != nil {
		return err
	}
	t := &repl.Talk{In: os.Stdin, Reporter: reporter, Tally: s.count, Now: time.Now, Outcome: outcome, Nobody: nobody,
		FailOnDeny: s.flags.FailOnDeny, Session: func() string { return s.journal.ID() }}
	var approver engine.Approver = t
	if s.flags.NoInput || s.flags.AskTTY {
		approver = nobody
	}
	s.notify = t.Notify
	if err := s.build(ctx, approver); err != nil {
		return err
	}
	app := s.commands(approver, t)
	t.Expand = input.Chain(app.Commands.Step(app), s.files().Step)
	t.Engine = s.answer
	return t.Run(ctx, repl.Init{Model: s.engine.Model()})
}

// batch answers the prompts of a file.
func (s *session) batch(ctx context.Context) (err error) {
	defer s.close()
	s.govern()
	source, err := batch.Open(s.flags.Batch, os.Stdin)
	if err != nil {
		return err
	}
	if err := s.work(); err != nil {
		return err
	}
	if err := s.limit(); err != nil {
		return err
	}
	if err := s.ask(); err != nil {
		return err
	}
	out, err := batch.Create(s.flags.Output, stdout)
	if err != nil {
		return err
	}
	defer func() {
		left, ferr := out.Finish(err == nil || errors.Is(err, batch.ErrFailed))
		if left != "" {
			s.notify("what there is of the output is in " + left)
		}
		if ferr != nil {
			err = cmp.Or(err, unwritten(ferr))
		}
	}()
	r := &batch.Runner{
		Source: source, Format: cmp.Or(batch.Format(s.flags.BatchFormat), batch.FormatOf(s.flags.Batch)),
		StateFile: s.flags.BatchState, Fresh: s.flags.BatchFresh,
		Key:  batch.Key(s.paths.Cwd, s.modelName(), s.settings.ApprovalMode, s.shape(), s.flags.BatchAPI),
		Jobs: s.flags.Jobs, Unordered: s.flags.Unordered,
		Ask: s.item, Demand: s.demanded, Spent: spent, Outcome: outcome,
		Out: out, Broken: s.broken, Notify: batch.Notes(stderr, "", s.flags.Quiet), Quiet: s.flags.Quiet,
	}
	if s.project.Temp != "" {
		r.StateDir = filepath.Join(s.project.Temp, "batches")
	}
	if s.flags.BatchAPI {
		if r.Service, err = s.service(); err != nil {
			return err
		}
	}
	return r.Run(ctx)
}

// service returns what works on many requests by itself.
func (s *session) service() (batch.Service, error) {
	if api := s.setup.API; s.setup.Fake != "" || api.Vertex || api.CodeAssist {
		return nil, &settings.UsageError{Message: "--batch-api works with the Gemini API only, not with Vertex AI, Code Assist or a recording"}
	}
	g, err := model.NewGenai(s.setup.API)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { g.Close() })
	return g, nil
}

// item answers one item of a batch, in a session of its own beside s: they
// share what is safe to share.
func (s *session) item(ctx context.Context, t batch.Turn) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crash{value: v}
		}
	}()
	own := *s.settings
	own.Model, own.MaxTurns = cmp.Or(t.Model, own.Model), cmp.Or(t.MaxTurns, own.MaxTurns)
	t.Tally.Cost = s.count.Cost
	x := &session{flags: s.flags, settings: &own, trust: s.trust, dotenv: s.dotenv, paths: s.paths, project: s.project,
		count: t.Tally, policy: s.policy, workspace: s.workspace, jobs: s.jobs, shell: s.shell, reach: s.reach, whole: s.budget, demand: t.Demand,
		system: t.System, notify: func(text string) { t.Reporter.Event(engine.Notice{Text: text}) }}
	x.budget = limit.New(limit.Config{Tokens: t.MaxTokens, Calls: cmp.Or(t.MaxToolCalls, s.flags.MaxToolCalls),
		Time: cmp.Or(t.Timeout, time.Duration(s.flags.Timeout)), Resume: x.goOn})
	x.generator, x.alone, x.trial = s.generator, t.Generator != nil, t.Trial
	if x.alone {
		x.generator = t.Generator
	}
	x.generator = x.budget.Generator(x.generator)
	defer x.close()
	if _, err := x.open(); err != nil {
		return err
	}
	x.equip()
	if err := x.structure(); err != nil {
		return err
	}
	if err := x.instruct(); err != nil {
		return err
	}
	nobody := &repl.Headless{FailOnAsk: s.flags.FailOnAsk}
	x.converse(nobody, nil)
	return x.reply(ctx, nobody, t.Reporter, repl.Prompt{Text: t.Text()})
}

// shape tells what is demanded of answers.
func (s *session) shape() string {
	if d := s.demand; d != nil && d.Schema != nil {
		return string(d.Schema.JSON())
	}
	return fmt.Sprint(s.flags.Extract)
}

// spent reports whether a request was not made because nothing is left.
func spent(err error) bool {
	var over *limit.Error
	return errors.As(err, &over) && over.Unsent
}

// interact holds a session at a terminal.
func (s *session) interact(ctx context.Context) error {
	screen, err := s.screen()
	if err != nil {
		return err
	}
	s.shown.Store(screen)
	console, out := screen.Console, screen.Out
	defer func() { console.Lines.Close() }() // there may be others by then
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	console.Interrupts = interrupts
	asker := &repl.Asker{Console: console, Edit: screen.Config.Edit}
	s.notify = func(text string) { out.Line(output.Warning, "%s", text) }
	if line := screen.Mode.Announcement(); line != "" {
		out.Line(output.Info, "%s", line)
	}
	defer s.close()
	if err := s.enter(ctx, console); err != nil {
		return err
	}
	if err := s.build(ctx, asker); err != nil {
		return err
	}
	s.furnish(screen)
	app := s.commands(asker, out)
	app.Permit, app.Screen = s.permit(console), screen.Commands()
	desktop := app.Copy
	app.Copy = func(ctx context.Context, text string) (string, error) { return screen.Copy(ctx, text, desktop) }
	s.app = app
	if err := s.offer(ctx, screen); err != nil {
		return err
	}
	r := &repl.REPL{Console: console, Printer: screen.Printer, Asker: asker,
		Prompt: func() string {
			if s.shellMode() {
				return output.Shell
			}
			return output.Ready
		},
		Expand: input.Chain(
			s.typed.Step,           // !ls: run, nothing sent
			app.Commands.Step(app), // /stats: done, or yields parts
			input.Braces(s.substitute(screen.Printer)), // !{date}: judged, asked about, replaced
			s.files().Step, // @main.go: the file's text
			s.recall,
		),
		Run: s.answer,
	}
	return s.talk(ctx, r)
}

// talk carries out the prompt of the command line and then what is typed.
func (s *session) talk(ctx context.Context, r *repl.REPL) error {
	if text := s.flags.Text(); text != "" {
		if err := r.Do(ctx, text); errors.Is(err, commands.ErrQuit) {
			return nil
		} else if err != nil && ctx.Err() == nil {
			r.Out.Line(output.Failure, "%s", err)
		}
	}
	err := r.Loop(ctx)
	if !isTerminal(os.Stdin) {
		err = signalled(syscall.SIGHUP) // it was one: it is gone, and the signal on its way
	}
	if s.count.Tokens() > 0 && s.project.Temp != "" {
		r.Out.Line(output.Info, "gemline --resume %s goes on with this session", s.journal.ID())
	}
	return err
}

// screen decides how the terminal is written to and read from.
func (s *session) screen() (*repl.Screen, error) {
	flag, off := s.flags.PlainFlag()
	signs := output.Signs{Flag: flag, FlagOff: off, Setting: &s.settings.ScreenReader, Terminal: true, Lookup: os.LookupEnv}
	mode := output.Decide(signs)
	signs.Flag, signs.FlagOff = "/accessible", true
	best := output.Decide(signs)
	stable := s.flags.PromptFormat == "stable"
	if stable {
		best = output.Mode{Cause: "--prompt-format stable"}
		if !mode.Asked {
			mode = best
		}
	}
	words, err := output.Rename(s.settings.Labels())
	if err != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("ui.labels: %v; all labels keep their names", err))
	}
	out := output.New(stdout, output.Options{Color: mode.Color, Marks: mode.Marks, ASCII: s.settings.ASCII, Words: words})
	_, echoed := os.LookupEnv("INSIDE_EMACS")
	config := repl.LinesConfig{In: os.Stdin, Out: out, Screen: stdout, Smart: mode.Smart, Marks: mode.Marks, Echoed: echoed,
		NoEcho: s.flags.NoEcho, Jobs: true, Complete: s.complete, Edit: s.edit}
	console := &repl.Console{Out: out, Stable: stable, Gone: func() bool { return !isTerminal(os.Stdin) }}
	config.History = s.history(func(text string) { console.Lines.Show(func() { s.notify(text) }) })
	console.Lines, err = repl.NewLines(config)
	return &repl.Screen{Console: console, Config: config, Mode: mode, Best: best, Lookup: os.LookupEnv}, err
}

// furnish adds what the screen has once the settings are known, and who shows
// what on it.
func (s *session) furnish(screen *repl.Screen) {
	screen.Pace, screen.Detail, screen.Vi = s.settings.Stream, s.settings.Detail, s.settings.Vi
	screen.Printer = &repl.Printer{Out: screen.Out, Tally: s.count, Kind: s.tools.Kind, Keep: s.keep, Thoughts: s.settings.Thinking == "full"}
	screen.Begin()
	s.typed = s.shellStep(screen.Out)
	if !s.settings.Notifications && s.settings.NotifyCommand == "" {
		return
	}
	n := &repl.Notifier{Method: s.settings.NotifyMethod, Environ: shell.Environment(os.Environ(), s.shell), Terminal: screen.Out.Terminal(), Smart: screen.Mode.Smart,
		Lookup: os.LookupEnv, Dir: s.paths.Cwd, ID: func() string { return s.journal.ID() }, Warn: func(text string) { s.notify(text) }}
	if command := s.settings.NotifyCommand; command != "" {
		n.Command = []string{"sh", "-c", command}
		if runtime.GOOS == "windows" {
			n.Command = []string{"cmd", "/c", command}
		}
	}
	screen.Notifier = n
}

// offer asks once, whoever asks for screen reader mode on the command line,
// whether that is for good.
func (s *session) offer(ctx context.Context, screen *repl.Screen) error {
	const key = "ui.accessibility.screenReader"
	on := s.flags.ScreenReader
	if on == nil || !*on || screen.Stable || s.settings.Says(key) || !s.paths.Once("screen-reader-offered") {
		return nil
	}
	yes, err := screen.Confirm(ctx, "shall screen reader mode be on from now on, without the flag? This is asked once.")
	if err != nil || !yes {
		return err
	}
	return s.app.Manage(ctx, "config", "set", "--", key, "true")
}

// edit lets the user change text in an editor.
func (s *session) edit(ctx context.Context, name, text string) (string, error) {
	return repl.Editor(s.editor(), os.Stdin, stdout, stderr)(ctx, name, text)
}

// editor returns the command of the user's editor.
func (s *session) editor() string {
	return cmp.Or(repl.EditorCommand(s.settings.Editor, s.settings.NewWindow, installed), os.Getenv("VISUAL"), os.Getenv("EDITOR"))
}

// shellMode reports whether every line is a command.
func (s *session) shellMode() bool { return s.typed != nil && s.typed.Mode() }

// history is what was typed before, prompts and commands each in its file.
func (s *session) history(warn func(string)) repl.InputHistory {
	file := func(name string) repl.HistoryConfig {
		c := repl.HistoryConfig{Session: func() string { return s.journal.ID() }, Now: time.Now, Warn: warn}
		if s.project.Temp != "" {
			c.Path = filepath.Join(s.project.Temp, name)
		}
		return c
	}
	return repl.Histories(repl.PromptHistory(file("logs.json")), repl.CommandHistory(file("shell_history")), s.shellMode)
}

// complete says what the Tab key may make of a line.
func (s *session) complete(ctx context.Context, line string, at int) (int, []repl.Candidate) {
	if s.app == nil {
		return at, nil
	}
	names := input.Names{Workspace: s.workspace, Fuzzy: s.settings.FuzzySearch}
	models := func(context.Context) (names []string) {
		for _, c := range s.reach.Choices() {
			names = append(names, c.Name)
		}
		return names
	}
	c := repl.Completion{Commands: func() commands.Set { return s.app.Commands }, App: s.app, Files: names.Complete,
		Words: map[string]func(context.Context) []string{"model": models, "model set": models}}
	return c.Complete(ctx, line, at)
}

// recall is the step that reads the context files, before the first prompt
// needs them.
func (s *session) recall(next input.Processor) input.Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		s.memory.Contents()
		return next(ctx, parts)
	}
}

// shellStep is the step for the commands that the user runs.
func (s *session) shellStep(out *output.Writer) *input.Shell {
	return &input.Shell{
		Notify: func(text string) { out.Line(output.Info, "%s", text) },
		Add: func(ctx context.Context, parts ...*genai.Part) error {
			s.memory.Contents()
			return s.engine.Add(ctx, parts...)
		},
		Run: func(ctx context.Context, command string) (string, error) {
			o := shell.Run(ctx, shell.Command{Text: command, Dir: s.paths.Cwd, Settings: s.shell, Jobs: s.jobs, Output: out.Text})
			out.Fresh()
			if status := o.Status(); status != "" {
				out.Line(output.Result, "%s", status)
			}
			return o.Shown(), nil
		},
	}
}

// substitute runs a command that the user put into a prompt: judged and asked
// about like a call of the model's.
func (s *session) substitute(printer *repl.Printer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, command string) (string, error) {
		printer.Begin(time.Now())
		result, err := s.engine.Do(ctx, "run_shell_command", map[string]any{"command": command}, func(ev engine.Event) error {
			printer.Print(ev, time.Now())
			return nil
		})
		switch {
		case errors.Is(err, context.Canceled): // no more words than that
			return "", err
		case err != nil:
			return "", errors.New(engine.DisplayError(err))
		}
		return result.Display, nil
	}
}

// keep stores an output that the screen shows in part.
func (s *session) keep(name, text string) string {
	if s.project.Temp == "" {
		return ""
	}
	path, err := s.env.Keep(name, text)
	if err != nil {
		return ""
	}
	return path
}

// piped returns the prompt of the command line and of standard input.
func (s *session) piped(ctx context.Context) (repl.Prompt, error) {
	p := repl.Prompt{Text: s.flags.Text()}
	in := input.Stdin{Terminal: isTerminal(os.Stdin), Force: s.flags.Stdin || s.flags.Dash(), Forbid: s.flags.NoStdin, Prompt: p.Text != ""}
	info, err := os.Stdin.Stat()
	if err != nil {
		in.Closed = true
	} else {
		in.Mode = info.Mode()
	}
	if !in.Wanted() {
		return p, nil
	}
	b, err := input.ReadAll(ctx, os.Stdin, input.MaxStdin, s.notify)
	if err != nil {
		return p, err
	}
	d, err := input.Decode(b, s.notify)
	p.Piped, p.Media, p.Bytes, p.Encoding = d.Text, d.Media, d.Bytes, d.Encoding
	return p, err
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func installed(program string) bool { _, err := exec.LookPath(program); return err == nil }

// signalled is the error of a run that a signal ended.
type signalled syscall.Signal

func (s signalled) Error() string { return "stopped by " + signalName(syscall.Signal(s)) }

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	}
	return s.String()
}

// crash is a panic that was recovered.
type crash struct{ value any }

// Error returns one line: what follows the first is where it happened.
func (c *crash) Error() string {
	what, _, _ := strings.Cut(fmt.Sprint(c.value), "\n")
	return fmt.Sprintf("a mistake in gemline: %.500s", what)
}

// unwritten is the error of a run whose output can't be written.
func unwritten(err error) error {
	if errors.As(err, new(*repl.DestinationError)) {
		return err
	}
	where := "standard output"
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		if err = pe.Err; strings.HasPrefix(pe.Path, "descriptor ") {
			where = pe.Path
		}
	}
	return fmt.Errorf("%s: %w", where, err)
}

// finish reports how the run ended and returns the exit code.
func (s *session) finish(ctx context.Context, reporter repl.Reporter, err error) int {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == stdout.Name() { // of what needs no run
		err = unwritten(err)
		if errors.Is(err, syscall.EPIPE) {
			err = signalled(syscall.SIGPIPE)
		}
	}
	o, left := outcome(err), 128+int(syscall.SIGPIPE)
	if o.Silent = err == signalled(syscall.SIGPIPE); s.flags.PipeOK { // nobody reads
		left = 0
		if o.Silent {
			o = repl.Outcome{Reason: o.Reason, Silent: true}
		}
	}
	werr := reporter.Finish(o)
	switch {
	case o.Silent:
		return left
	case errors.Is(werr, syscall.EPIPE):
		return left
	case werr != nil && err == nil:
		fmt.Fprintf(stderr, "error: %v\n", unwritten(werr))
		return 1
	}
	return o.ExitCode
}

// outcome classifies what went wrong, once: the exit code, the reason that a
// record gives, and the class that scripts written for the Gemini CLI know.
func outcome(err error) repl.Outcome {
	o := repl.Outcome{Err: err}
	set := func(code int, reason, class string) { o.ExitCode, o.Reason, o.ErrorType = code, reason, class }
	var (
		sig   signalled
		bug   *crash
		usage *settings.UsageError
		file  *settings.FileError
		never *settings.ForbiddenError
		alien *settings.UntrustedError
		gone  *cli.NoSessionError
		busy  *journal.BusyError
		in    *input.Error
		over  *engine.OverflowError
		call  *engine.CallError
		unmet *repl.UnmetError
		asked *model.Error
		broke *auth.Error
		spent *limit.Error
		table *limit.PricesError
	)
	switch {
	case err == nil:
	case errors.As(err, &sig):
		set(128+int(sig), strings.ToLower(signalName(syscall.Signal(sig))), "FatalCancellationError")
	case errors.As(err, &bug):
		set(70, "internal", "InternalError")
		o.Hint = "this is worth a report; -d shows where it happened"
	case errors.As(err, &usage):
		set(2, "usage", "UsageError")
	case errors.As(err, &spent):
		o.Message, o.Hint = spent.Message, spent.Hint
		switch spent.Kind {
		case limit.Time:
			set(63, "timeout", "FatalTimeoutError")
		case limit.Calls:
			set(64, "max_tool_calls", "FatalToolCallLimitedError")
		default:
			set(62, spent.Kind.String(), "FatalBudgetExceededError")
		}
	case errors.As(err, &file), errors.As(err, &never), errors.As(err, &table):
		set(52, "config", "FatalConfigError")
	case errors.As(err, &alien):
		set(55, "untrusted", "FatalUntrustedWorkspaceError")
		o.Hint = alien.Hint()
	case errors.As(err, &in), errors.As(err, &gone), errors.As(err, &busy):
		set(42, "input", "FatalInputError")
	case errors.As(err, &over):
		set(42, "context_overflow", "ContextOverflowError")
		o.Hint = "start afresh, or send less"
	case errors.Is(err, engine.ErrMaxTurns):
		set(53, "max_turns", "FatalTurnLimitedError")
		o.Hint = "--max-turns sets the limit"
	case errors.Is(err, batch.ErrFailed):
		set(1, "items_failed", "BatchError")
	case errors.Is(err, repl.ErrAsked):
		set(60, "approval_needed", "ApprovalNeededError")
	case errors.Is(err, repl.ErrDenied):
		set(61, "denied", "PolicyDeniedError")
		o.Hint = "without --fail-on-deny the model is told, and the run goes on"
	case errors.As(err, &unmet):
		set(65, unmet.Reason, "AnswerMismatchError")
	case errors.As(err, &call) && call.Type == engine.NoSpaceLeft:
		set(54, "tool", "FatalToolExecutionError")
	case errors.As(err, &asked):
		o.Message, o.Hint, o.HTTP, o.RetryAfter = asked.Message, asked.Hint, asked.HTTP, asked.RetryAfter
		set(1, asked.Kind.String(), "unknown")
		switch asked.Kind {
		case model.Config:
			set(52, "config", "FatalConfigError")
		case model.Auth:
			set(41, "auth", "FatalAuthenticationError")
		case model.Overflow:
			set(42, "context_overflow", "ContextOverflowError")
		case model.Refused, model.Invalid:
			set(66, asked.Kind.String(), "INVALID_STREAM")
		case model.Quota:
			set(67, "quota", "QuotaError")
		case model.Unavailable:
			set(68, "unavailable", "NetworkError")
		}
	case errors.As(err, &broke):
		o.Hint = broke.Hint
		if set(41, "auth", "FatalAuthenticationError"); broke.Config {
			set(52, "config", "FatalConfigError")
		}
	case errors.Is(err, context.Canceled):
		set(130, "cancelled", "FatalCancellationError")
	default:
		set(1, "error", "Error")
	}
	return o
}

// errorClass names the class of a failed request for the statistics.
func errorClass(err error) string {
	if e := (*limit.Error)(nil); errors.As(err, &e) && e.Unsent {
		return ""
	}
	return outcome(err).Reason
}
