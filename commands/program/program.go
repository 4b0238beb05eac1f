// Package program is one start of gemline: it finds out what the user wants, makes
// the owners of everything, has a front end hold a conversation, and says how that
// ended.
//
// # A conversation is a value
//
// [project.Options] are the user's wishes for a directory. [Open] makes a [Project] of them,
// which all conversations in the directory share. [Project.Begin] makes a [Session], one
// conversation. Each value is complete when it is returned, and closes what it owns. A
// prompt, a session, /clear, a program that talks and each item of a batch all begin with
// [Project.Begin].
//
// # One place knows everything
//
// What this package puts together knows nothing of it and little of each other:
// settings end here and become the plain values that the others are given.
// Nothing imports it but main and what drives its tests.
//
// # One last word
//
// However a run ends, by an error, a signal, a deadline or a panic, [Run]
// classifies it once, in one table, has the reporter say so once, and returns
// the code.
//
// # The process is given
//
// Arguments, streams, environment and exit are a [project.Process], so that the whole
// program can be run inside another.
package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/settings/flags"
	dirs "gemline/settings/project"
	"gemline/tools/shell"
)

// Run runs the program and returns its exit code. Whatever happens, the
// reporter has the last word, once.
func Run(p project.Process) (code int) {
	log.SetOutput(io.Discard) // where libraries write what nobody asked for
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		p.Stray(null)
	}
	r, command, err := newRun(p)
	managed := command != nil
	shell.Conceal() // where it can't be had, children still lack the keys
	defer r.opts.Ledger.Close()
	r.opts.User.Interactive = err == nil && r.opts.User.Serving == nil &&
		r.opts.Flags.Interactive(isTerminal(r.opts.Env.Process.Stdin), isTerminal(r.opts.Env.Process.Stdout), r.opts.Env.Process.Getenv)
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	if d := time.Duration(r.opts.Flags.Timeout); d > 0 && !r.opts.User.SeveralAnswers() && r.opts.Flags.Batch == "" {
		late, cancel := context.WithTimeoutCause(ctx, d, limit.Timeout(d))
		defer cancel()
		ctx = late
	}
	reporter := sync.OnceValue(func() report.Reporter { return r.reporter(managed, stop) })
	defer listen(ctx, stop, r.opts.User.Interactive, r.hungUp, p.Exit, func(err error) { // until the last word is written
		defer func() { recover() }() // nobody is left to tell
		r.restore()
		r.abandoned.Store(true)
		r.finish(ctx, reporter(), err)
	})()
	defer func() {
		if v := recover(); v != nil {
			if r.opts.Flags.Debug {
				fmt.Fprintln(r.opts.Env.Process.Stderr, r.opts.Secrets.Text(fmt.Sprintf("%v\n%s", v, debug.Stack())))
			}
			code = r.finish(ctx, reporter(), &crash{value: v, resumeCommand: r.status.kept()})
		}
	}()
	if err == nil {
		err = r.prepareOutput(managed)
	}
	switch {
	case err != nil:
		r.opts.ReadHere(managed) // which format do the settings say?
	case !r.opts.Flags.Version && !r.opts.Flags.Help:
		if !managed {
			go readTables(p.Getenv)
		}
		if err = r.opts.ReadHere(managed); err != nil && managed && command[0] == "update" {
			err = r.opts.Read(os.TempDir(), managed) // it wants no directory, and the working directory may be gone
		}
	}
	switch {
	case err != nil:
	case r.opts.Flags.Version || r.opts.Flags.Help || r.opts.Flags.ListSessions || r.opts.Flags.ListExtensions:
		if err = printInfo(r.opts); err == nil {
			return 0
		}
	case managed:
		if err = r.manage(ctx, reporter(), command); err == nil {
			return 0
		}
	default:
		err = r.start(ctx, reporter())
	}
	return r.finish(ctx, reporter(), err)
}

// readTables reads, while the settings are read, what a conversation needs next. Whoever comes
// too early waits for it.
func readTables(getenv func(string) string) {
	model.NewProviders(nil, getenv)
	catalog.Shipped()
}

// newRun returns a run with its command line parsed, and the sub-command to carry out
// instead, if any. If the command line can't be parsed, the run at least knows where to print
// the error, and in which form.
func newRun(p project.Process) (r *run, command []string, err error) {
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
	r = &run{opts: o, status: newStatus(), count: newTally()}
	home, _ := os.UserHomeDir()
	r.opts.Ledger = disk.NewLedger(dirs.New(home, p.Getenv("GEMINI_CLI_HOME"), "").User("tmp", "unfinished"))
	if fd := line.JSONFd; fd != nil && command == nil {
		var ferr error
		if r.json, ferr = output.Descriptor(*fd); ferr != nil && err == nil {
			err = &flags.UsageError{Message: "--json-fd: " + ferr.Error()}
		}
	}
	return r, command, err
}

// prepareOutput sees to what has to hold when the run is over: what the answer is to
// be, and where it goes.
func (r *run) prepareOutput(managed bool) (err error) {
	if !managed {
		if r.schema, err = outputSchema(r.opts.Flags); err != nil {
			return err
		}
	}
	if name := r.opts.Flags.Output; name != "" && name != "-" && runs(r.opts.Flags, managed) {
		if r.output, err = report.NewDestination(name, r.opts.Env.Process.Stdout, r.opts.Ledger); err != nil {
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

// reporter returns who tells how the run goes and ends. For a sub-command that is
// the text form: the document that it prints is its own, and no record of a run.
func (r *run) reporter(managed bool, stop context.CancelCauseFunc) report.Reporter {
	r.broken = func(err error) { stop(unwritten(err)) }
	out := report.Config{
		Out: r.opts.Env.Process.Stdout, Err: r.opts.Env.Process.Stderr, Tally: r.count, Now: time.Now, Quiet: r.opts.Flags.Quiet,
		Text: report.Text{Raw: r.opts.Flags.RawOutput, Uncited: r.opts.Settings != nil && !r.opts.Settings.Cite},
		RunInfo: report.RunInfo{Version: r.opts.Env.Process.Version, Dir: func() string { return r.opts.Paths.Cwd },
			Mode: r.status.mode, Sandbox: r.status.sandbox, Unused: r.status.notInUse},
		Schema:    r.schema,
		Broken:    r.broken,
		Unwritten: func(err error) report.Outcome { return r.ended(unwritten(err)) },
	}
	if managed || r.opts.User.Serving != nil || r.opts.Flags.ACP { // standard output is for what was asked for
		return report.New("text", out)
	}
	if r.opts.Flags.Batch != "" && r.opts.Flags.Format() != "text" {
		return batch.Ending(report.New("stream-json", out)) // a line, like those of the items
	}
	if r.output != nil {
		out.Out, out.Done = r.output, r.output.End
	}
	out.Text.Live = r.opts.Flags.Stream == "token" || r.output == nil && !r.opts.Flags.Quiet && isTerminal(r.opts.Env.Process.Stdout)
	if r.opts.Flags.Patch || r.opts.Flags.DryRun {
		out.Collected = r.status.collected
	}
	if r.json != nil {
		out.JSON = r.json
	}
	format := cmp.Or(r.opts.Flags.Format(), r.opts.Settings.Format)
	if r.opts.Flags.Talks() && format == "stream-json" {
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

// printInfo prints what needs no run.
func printInfo(o *project.Options) error {
	switch {
	case o.Flags.Version:
		return cli.ReadBuild(o.Env.Process.Version, o.Env.Process.Commit, o.Env.Process.Date).Print(o.Env.Process.Stdout, o.Flags.Format() == "json")
	case o.Flags.Help:
		return flags.Help(o.Env.Process.Stdout, cli.Commands())
	}
	asJSON := o.Settings.Format == "json" || o.Settings.Format == "stream-json"
	var list bytes.Buffer
	var err error
	if o.Flags.ListExtensions {
		err = listExtensions(o, &list, asJSON)
	} else {
		store, _ := o.Paths.Register(context.Background())
		err = journal.Print(&list, store.Chats(), asJSON, time.Now())
	}
	if err != nil {
		return err
	}
	_, err = o.Env.Process.Stdout.Write(output.JSON(list.Bytes())) // what the files say of themselves is in it
	return err
}

// start does what the user wants.
func (r *run) start(ctx context.Context, reporter report.Reporter) error {
	r.opts.Ledger.Sweep()
	var perr error
	r.store, perr = r.opts.Paths.Register(ctx)
	if r.opts.Flags.PromptInteractive != "" && !r.opts.User.Interactive {
		return &input.Error{Message: "--prompt-interactive needs a terminal"}
	}
	told := func(info bool) func(string) {
		return r.opts.Redacting(func(text string) { reporter.Event(engine.Notice{Text: text, Info: info}) })
	}
	r.status.warn, r.status.tell = told(false), told(true)
	if r.opts.Flags.Batch != "" { // standard output is for its items
		r.status.warn, r.status.tell = batch.Notes(r.opts.Env.Process.Stderr, "warning: ",
			r.opts.Flags.Quiet), batch.Notes(r.opts.Env.Process.Stderr, "info: ", r.opts.Flags.Quiet)
	}
	if r.opts.User.Interactive {
		return r.interact(ctx)
	}
	if perr != nil {
		r.notify(perr.Error())
	}
	if !r.opts.User.AsksForTrust() { // else a question comes first
		if err := r.checkOut(ctx); err != nil {
			return err
		}
	}
	defer tellTree(r.opts, r.status, func(text string) { r.status.tell(text) })
	switch {
	case r.opts.User.Serving != nil:
		return r.served(ctx)
	case r.opts.Flags.ACP:
		return r.serveEditor(ctx)
	case r.opts.Flags.Talks():
		return r.serve(ctx)
	case r.opts.Flags.Batch != "":
		return r.batch(ctx)
	}
	return r.once(ctx, reporter)
}

// listExtensions prints which extensions there are.
func listExtensions(o *project.Options, w io.Writer, asJSON bool) error {
	list, warnings := o.Installed()
	for _, w := range warnings {
		if !o.Flags.Quiet {
			fmt.Fprintln(o.Env.Process.Stderr, "warning: "+output.EscapeLine(w))
		}
	}
	if asJSON {
		type shown struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Path    string `json:"path"`
			Active  bool   `json:"active"`
		}
		all := make([]shown, len(list))
		for i, x := range list {
			all[i] = shown{x.Name, x.Version, x.Dir, x.Active}
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			SchemaVersion int     `json:"schema_version"`
			Extensions    []shown `json:"extensions"`
		}{cli.SchemaVersion, all})
	}
	text := "No extensions installed.\n"
	if len(list) > 0 {
		text = "Installed extensions:\n"
	}
	for _, x := range list {
		text += "- " + x.Name + map[bool]string{true: "", false: " (switched off)"}[x.Active] +
			"\n" // a name has letters, digits and hyphens
	}
	_, err := io.WriteString(w, text)
	return err
}
