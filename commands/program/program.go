// Package program is one start of gemline: it finds out what the user wants,
// builds the owners of everything, runs a session, a prompt, a batch, a
// conversation over a pipe or a sub-command, and turns what went wrong into an
// exit code.
//
// # One place that knows everything
//
// What this package assembles knows nothing of it and little of each other:
// settings end here and become the plain values that the others are given.
// Nothing imports it but main.
//
// # One last word
//
// However a run ends, by an error, a signal, a deadline or a panic, [Run]
// classifies it once, in one table, has the reporter say so once, and returns
// the code.
//
// # The process is given
//
// Arguments, streams, environment and exit are a [Process], so that the whole
// program can be run inside another.
package program

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/redact"
	"gemline/engine/schema"
	"gemline/engine/tally"
	"gemline/repl"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/tools/shell"
)

// A Process is what the program has of the process that it runs in.
type Process struct {
	Args                  []string // of the command line, without the program's name
	Stdin, Stdout, Stderr *os.File
	Environ               func() []string
	Lookup                func(name string) (value string, ok bool) // a variable of the environment
	Exit                  func(code int)                            // ends the process at once
	Stray                 func(*os.File)                            // sends somewhere else what libraries write to standard output and error
	Version, Commit, Date string                                    // of the build; Date is that of the commit, RFC 3339
}

func (p Process) getenv(name string) string {
	v, _ := p.Lookup(name)
	return v
}

// Run runs the program and returns its exit code. Whatever happens, the
// reporter has the last word, once.
func Run(p Process) (code int) {
	log.SetOutput(io.Discard) // where libraries write what nobody asked for
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		p.Stray(null)
	}
	s, command, err := begin(p)
	managed := command != nil
	shell.Conceal() // where it can't be had, children still lack the keys
	defer s.ledger.Close()
	s.interactive = err == nil && s.flags.Interactive(isTerminal(s.os.Stdin), isTerminal(s.os.Stdout), s.os.getenv)
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	if d := time.Duration(s.flags.Timeout); d > 0 && !s.converses() && s.flags.Batch == "" {
		late, cancel := context.WithTimeoutCause(ctx, d, limit.Timeout(d))
		defer cancel()
		ctx = late
	}
	reporter := sync.OnceValue(func() repl.Reporter { return s.reporter(managed, stop) })
	defer listen(ctx, stop, s.interactive, p.Exit, func(err error) { // until the last word is written
		defer func() { recover() }() // nobody is left to tell
		s.restore()
		s.left.Store(true)
		s.finish(ctx, reporter(), err)
	})()
	defer func() {
		if v := recover(); v != nil {
			if s.flags.Debug {
				fmt.Fprintln(s.os.Stderr, s.secrets.Text(fmt.Sprintf("%v\n%s", v, debug.Stack())))
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
	case s.flags.Version || s.flags.Help || s.flags.ListSessions || s.flags.ListExtensions:
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
func begin(p Process) (s *session, command []string, err error) {
	args := p.Args
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
	if missing := cli.Missing(args); err == nil && !managed && missing != nil {
		err = missing
	}
	if err != nil {
		flags = settings.Wanted(args)
	}
	s = &session{os: p, secrets: &redact.Redactor{}, flags: flags, settings: settings.Default(), count: &tally.Tally{Class: errorClass}}
	home, _ := os.UserHomeDir()
	s.ledger = disk.NewLedger(settings.NewPaths(home, p.getenv("GEMINI_CLI_HOME"), "").User("tmp", "unfinished"))
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
		if s.output, err = repl.NewDestination(name, s.os.Stdout, s.ledger); err != nil {
			return &input.Error{Message: err.Error(), Err: err}
		}
		return nil
	}
	if outputClosed() {
		return &input.Error{Message: "standard output is closed, so nobody would read the answer\nopen it (>/dev/null discards the answer), or name a file with -O"}
	}
	return nil
}

// reporter returns the one who tells how the run goes and ends. A sub-command
// prints its own document, and an error of one is no record of a run.
func (s *session) reporter(managed bool, stop context.CancelCauseFunc) repl.Reporter {
	s.broken = func(err error) { stop(unwritten(err)) }
	r := repl.Report{
		Out: s.os.Stdout, Err: s.os.Stderr, Tally: s.count, Now: time.Now, Quiet: s.flags.Quiet, Raw: s.flags.RawOutput,
		Version: s.os.Version, Dir: s.paths.Cwd, Mode: func() string { return string(s.policy.Mode()) }, Sandbox: s.held, Unused: s.counted, Demand: s.demand,
		Broken:    s.broken,
		Unwritten: func(err error) repl.Outcome { return s.ended(unwritten(err)) },
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
	r.Live = s.flags.Stream == "token" || s.output == nil && !s.flags.Quiet && isTerminal(s.os.Stdout)
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
	return !managed && !f.Version && !f.Help && !f.ListSessions && !f.ListExtensions && f.Batch == ""
}

// text reports whether the answer, as text, is what the run prints.
func (s *session) text() bool {
	f := s.flags
	asText := s.json != nil || cmp.Or(f.Format(), s.settings.Format, "text") == "text"
	return asText && s.demand == nil && !f.Patch && !f.DryRun
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

// inform prints what needs no run.
func (s *session) inform() error {
	switch {
	case s.flags.Version:
		return cli.ReadBuild(s.os.Version, s.os.Commit, s.os.Date).Print(s.os.Stdout, s.flags.Format() == "json")
	case s.flags.Help:
		return settings.Help(s.os.Stdout, cli.Commands())
	}
	asJSON := s.settings.Format == "json" || s.settings.Format == "stream-json"
	var list bytes.Buffer
	var err error
	if s.flags.ListExtensions {
		err = s.listExtensions(&list, asJSON)
	} else {
		project, _ := s.paths.Project(context.Background())
		err = journal.Print(&list, project.Chats(), asJSON, time.Now())
	}
	if err != nil {
		return err
	}
	_, err = s.os.Stdout.Write(output.JSON(list.Bytes())) // what the files say of themselves is in it
	return err
}

// run builds what the user wants and lets it run.
func (s *session) run(ctx context.Context, reporter repl.Reporter) error {
	s.ledger.Sweep()
	var perr error
	s.project, perr = s.paths.Project(ctx)
	if s.flags.PromptInteractive != "" && !s.interactive {
		return &input.Error{Message: "--prompt-interactive needs a terminal"}
	}
	s.notify = s.redacting(func(text string) { reporter.Event(engine.Notice{Text: text}) })
	if s.flags.Batch != "" { // standard output is for its items
		s.notify = batch.Notes(s.os.Stderr, "warning: ", s.flags.Quiet)
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

func (s *session) close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
}
