package front

import (
	"cmp"
	"context"
	"os"
	"time"

	"gemline/commands/cli"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/disk"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/settings/flags"
	dirs "gemline/settings/project"
)

// New returns a run with its command line parsed, and the sub-command to carry out
// instead, if any. If the command line can't be parsed, the run at least knows where to print
// the error, and in which form.
func New(p project.Process) (r *Run, command []string, err error) {
	args := p.Args
	before, command, managed := flags.Subcommand(args, cli.Names())
	if managed = managed && cli.Means(command); managed {
		args = before
	} else {
		command = nil
	}
	var serving *cli.Serving
	var serr error
	if managed {
		var own []string
		if serving, own, serr = cli.ParseServing(command); serving != nil {
			args, command, managed = append(args, own...), nil, false
		}
	}
	if managed {
		var own []string
		own, command = cli.CutSkipTrust(command)
		args = append(args, own...)
	}
	line, err := flags.Parse(args)
	if err == nil {
		err = serr
	}
	switch {
	case err != nil:
	case serving != nil:
		err = unserved(line, serving.Name())
	case line.ACP && !managed:
		err = unserved(line, acpFlag)
	}
	if err == nil && line.DeleteSession != "" && !managed { // as the Gemini CLI spells it
		command = []string{"sessions", "delete", "--", line.DeleteSession}
	}
	if err == nil && line.Export != "" && !managed {
		command = []string{"sessions", "export", "--", line.Resume.Value, line.Export}
	}
	if missing := cli.Missing(args); err == nil && !managed && missing != nil {
		err = missing
	}
	if err != nil {
		line = flags.Wanted(args)
	}
	o := project.New(p, line, serving)
	r = &Run{Opts: o, Status: project.NewStatus(), count: ending.NewTally()}
	home, _ := os.UserHomeDir()
	r.Opts.Ledger = disk.NewLedger(dirs.New(home, p.Getenv("GEMINI_CLI_HOME"), "").User("tmp", "unfinished"))
	if fd := line.JSONFd; fd != nil && command == nil {
		var ferr error
		if r.json, ferr = output.Descriptor(*fd); ferr != nil && err == nil {
			err = &flags.UsageError{Message: "--json-fd: " + ferr.Error()}
		}
	}
	o.User.Interactive = err == nil && o.User.Serving == nil &&
		o.Flags.Interactive(isTerminal(o.Env.Process.Stdin), isTerminal(o.Env.Process.Stdout), o.Env.Process.Getenv)
	return r, command, err
}

// PrepareOutput sees to what has to hold when the run is over: what the answer is to
// be, and where it goes.
func (r *Run) PrepareOutput(managed bool) (err error) {
	if !managed {
		if r.schema, err = outputSchema(r.Opts.Flags); err != nil {
			return err
		}
	}
	if name := r.Opts.Flags.Output; name != "" && name != "-" && runs(r.Opts.Flags, managed) {
		if r.output, err = report.NewDestination(name, r.Opts.Env.Process.Stdout, r.Opts.Ledger); err != nil {
			return &input.Error{Message: err.Error(), Err: err}
		}
		return nil
	}
	if outputClosed() {
		return &input.Error{Message: "standard output is closed, so nobody would read the answer",
			Advice: "open it (>/dev/null discards the answer), or name a file with -O"}
	}
	return nil
}

// Reporter returns who tells how the run goes and ends. For a sub-command that is
// the text form: the document that it prints is its own, and no record of a run.
func (r *Run) Reporter(managed bool, stop context.CancelCauseFunc) report.Reporter {
	r.broken = func(err error) { stop(ending.Unwritten(err)) }
	out := report.Config{
		Out: r.Opts.Env.Process.Stdout, Err: r.Opts.Env.Process.Stderr, Tally: r.count, Now: time.Now, Quiet: r.Opts.Flags.Quiet,
		Text: report.Text{Raw: r.Opts.Flags.RawOutput, Uncited: r.Opts.Settings != nil && !r.Opts.Settings.Cite},
		RunInfo: report.RunInfo{Version: r.Opts.Env.Process.Version, Dir: func() string { return r.Opts.Paths.Cwd },
			Mode: r.Status.Mode, Sandbox: r.Status.Sandbox, Unused: r.Status.NotInUse},
		Schema:    r.schema,
		Broken:    r.broken,
		Unwritten: func(err error) report.Outcome { return r.ended(ending.Unwritten(err)) },
	}
	if managed || r.Opts.User.Serving != nil || r.Opts.Flags.ACP { // standard output is for what was asked for
		return report.New("text", out)
	}
	if r.Opts.Flags.Batch != "" && r.Opts.Flags.Format() != "text" {
		return batch.Ending(report.New("stream-json", out)) // a line, like those of the items
	}
	if r.output != nil {
		out.Out, out.Done = r.output, r.output.End
	}
	out.Text.Live = r.Opts.Flags.Stream == "token" || r.output == nil && !r.Opts.Flags.Quiet && isTerminal(r.Opts.Env.Process.Stdout)
	if r.Opts.Flags.Patch || r.Opts.Flags.DryRun {
		out.Collected = r.Status.Collected
	}
	if r.json != nil {
		out.JSON = r.json
	}
	format := cmp.Or(r.Opts.Flags.Format(), r.Opts.Settings.Format)
	if r.Opts.Flags.Talks() && format == "stream-json" {
		r.stream = report.NewStream(out)
		return r.stream
	}
	return report.New(format, out)
}

// runs reports whether the program answers a prompt, rather than telling
// something about itself.
func runs(f *flags.Set, managed bool) bool {
	return !managed && !f.Version && !f.Help && !f.ListSessions && !f.ListExtensions && f.Batch == ""
}

// Start does what the user wants.
func (r *Run) Start(ctx context.Context, reporter report.Reporter) error {
	r.Opts.Ledger.Sweep()
	var perr error
	r.store, perr = r.Opts.Paths.Register(ctx)
	if r.Opts.Flags.PromptInteractive != "" && !r.Opts.User.Interactive {
		return &input.Error{Message: "--prompt-interactive needs a terminal"}
	}
	told := func(info bool) func(string) {
		return r.Opts.Redacting(func(text string) { reporter.Event(engine.Notice{Text: text, Info: info}) })
	}
	r.Status.Warn, r.Status.Tell = told(false), told(true)
	if r.Opts.Flags.Batch != "" { // standard output is for its items
		r.Status.Warn, r.Status.Tell = batch.Notes(r.Opts.Env.Process.Stderr, "warning: ",
			r.Opts.Flags.Quiet), batch.Notes(r.Opts.Env.Process.Stderr, "info: ", r.Opts.Flags.Quiet)
	}
	if r.Opts.User.Interactive {
		return r.interact(ctx)
	}
	if perr != nil {
		r.notify(perr.Error())
	}
	if !r.Opts.User.AsksForTrust() { // else a question comes first
		if err := r.checkOut(ctx); err != nil {
			return err
		}
	}
	defer tellTree(r.Opts, r.Status, func(text string) { r.Status.Tell(text) })
	switch {
	case r.Opts.User.Serving != nil:
		return r.served(ctx)
	case r.Opts.Flags.ACP:
		return r.serveEditor(ctx)
	case r.Opts.Flags.Talks():
		return r.serve(ctx)
	case r.Opts.Flags.Batch != "":
		return r.batch(ctx)
	}
	return r.once(ctx, reporter)
}
