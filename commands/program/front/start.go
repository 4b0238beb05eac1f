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

// New returns a run with its command line parsed, and the sub-command to carry out instead, if any.
// Even after an error, the run knows where to print the error, and in which format.
func New(p project.Process) (r *Run, command []string, err error) {
	args := p.Args
	before, command, subcommand := flags.Subcommand(args, cli.Names())
	if subcommand = subcommand && cli.Means(command); subcommand {
		args = before
	} else {
		command = nil
	}
	var serving *cli.Serving
	var serr error
	if subcommand {
		var own []string
		if serving, own, serr = cli.ParseServing(command); serving != nil {
			args, command, subcommand = append(args, own...), nil, false
		}
	}
	if subcommand {
		var own []string
		own, command = cli.CutSkipTrust(command)
		args = append(args, own...)
	}
	line, err := flags.Parse(args)
	err = cmp.Or(err, serr)
	switch {
	case err != nil:
	case serving != nil:
		err = checkServing(line, serving.Name())
	case line.ACP && !subcommand:
		err = checkServing(line, acpFlag)
	}
	if err == nil && line.DeleteSession != "" && !subcommand { // the Gemini CLI's spelling of a sub-command
		command = []string{"sessions", "delete", "--", line.DeleteSession}
	}
	if err == nil && line.Export != "" && !subcommand {
		command = []string{"sessions", "export", "--", line.Resume.Value, line.Export}
	}
	if missing := cli.Missing(args); err == nil && !subcommand && missing != nil {
		err = missing
	}
	if err != nil {
		line = flags.OutputOf(args)
	}
	o := project.New(p, line, serving)
	r = &Run{Options: o, Status: project.NewStatus(), count: ending.NewTally()}
	home, _ := os.UserHomeDir()
	r.Options.Ledger = disk.NewLedger(dirs.New(home, p.Getenv("GEMINI_CLI_HOME"), "").User("tmp", "unfinished"))
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

// PrepareOutput finds the schema and the destination of the answer, before the first request.
func (r *Run) PrepareOutput(subcommand bool) (err error) {
	if !subcommand {
		if r.schema, err = outputSchema(r.Options.Flags); err != nil {
			return err
		}
	}
	if name := r.Options.Flags.Output; name != "" && name != "-" && !subcommand && !WantsInfo(r.Options.Flags) && r.Options.Flags.Batch == "" {
		if r.output, err = report.NewDestination(name, r.Options.Env.Process.Stdout, r.Options.Ledger); err != nil {
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

// Reporter returns the reporter of the run. It calls stop when standard output is closed. A
// sub-command has the text format: the document that it prints is its own, not a record of a run.
func (r *Run) Reporter(subcommand bool, stop context.CancelCauseFunc) report.Reporter {
	r.onBroken = func(err error) { stop(ending.OutputError(err)) }
	out := report.Config{
		Out: r.Options.Env.Process.Stdout, Err: r.Options.Env.Process.Stderr, Tally: r.count, Now: time.Now, Quiet: r.Options.Flags.Quiet,
		Text: report.Text{Raw: r.Options.Flags.RawOutput, Uncited: r.Options.Settings != nil && !r.Options.Settings.Cite},
		RunInfo: report.RunInfo{Version: r.Options.Env.Process.Version, Dir: func() string { return r.Options.Paths.Cwd },
			Mode: r.Status.Mode, Sandbox: r.Status.Sandbox, Unused: r.Status.Unused},
		Schema:    r.schema,
		Broken:    r.onBroken,
		Unwritten: func(err error) report.Outcome { return r.finalOutcome(ending.OutputError(err)) },
	}
	if subcommand || r.Options.User.Serving != nil || r.Options.Flags.ACP { // standard output is for documents or a protocol
		return report.New("text", out)
	}
	if r.Options.Flags.Batch != "" && r.Options.Flags.Format() != "text" {
		return batch.ReportEnding(report.New("stream-json", out)) // one JSON line, like the items
	}
	if r.output != nil {
		out.Out, out.Done = r.output, r.output.End
	}
	out.Text.Live = r.Options.Flags.Stream == "token" || r.output == nil && !r.Options.Flags.Quiet && isTerminal(r.Options.Env.Process.Stdout)
	if r.Options.Flags.Patch || r.Options.Flags.DryRun {
		out.DryRun = r.Status.Collected
	}
	if r.json != nil {
		out.JSON = r.json
	}
	format := cmp.Or(r.Options.Flags.Format(), r.Options.Settings.Format)
	if r.Options.User.Interactive { // the format is for a single answer
		format = "text"
	}
	if r.Options.Flags.Talks() && format == "stream-json" {
		r.stream = report.NewStream(out)
		return r.stream
	}
	return report.New(format, out)
}

// Start runs the front end that the command line names, until it ends.
func (r *Run) Start(ctx context.Context, reporter report.Reporter) error {
	r.Options.Ledger.Sweep()
	var perr error
	r.store, perr = r.Options.Paths.Register(ctx)
	if r.Options.Flags.PromptInteractive != "" && !r.Options.User.Interactive {
		return &input.Error{Message: "--prompt-interactive needs a terminal"}
	}
	told := func(info bool) func(string) {
		return r.Options.Redacting(func(text string) { reporter.Event(engine.Notice{Text: text, Info: info}) })
	}
	r.Status.PrintWarning, r.Status.PrintInfo = told(false), told(true)
	if r.Options.Flags.Batch != "" { // standard output is for the items
		r.Status.PrintWarning, r.Status.PrintInfo = batch.NoteWriter(r.Options.Env.Process.Stderr, "warning: ",
			r.Options.Flags.Quiet), batch.NoteWriter(r.Options.Env.Process.Stderr, "info: ", r.Options.Flags.Quiet)
	}
	if r.Options.User.Interactive {
		return r.interact(ctx, perr)
	}
	if perr != nil {
		r.notify(perr.Error())
	}
	if !r.Options.User.AsksForTrust() { // otherwise the user is asked first
		if err := r.checkOutWorktree(ctx); err != nil {
			return err
		}
	}
	defer printWorktree(r.Options, r.Status, func(text string) { r.Status.PrintInfo(text) })
	switch {
	case r.Options.User.Serving != nil:
		return r.serveClients(ctx)
	case r.Options.Flags.ACP:
		return r.serveACP(ctx)
	case r.Options.Flags.Talks():
		return r.serveStream(ctx)
	case r.Options.Flags.Batch != "":
		return r.batch(ctx)
	}
	return r.once(ctx, reporter)
}

// serveClients serves other programs: the program at the standard streams, or all clients over
// HTTP.
func (r *Run) serveClients(ctx context.Context) error {
	p, err := r.openProject()
	if err != nil {
		return err
	}
	defer p.Close()
	if r.Options.User.Serving.A2A {
		return r.serveA2A(ctx, p)
	}
	return r.serveMCP(ctx, p)
}
