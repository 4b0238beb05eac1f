// Package front has the front ends of a run: the terminal, the one-shot prompt, batches, the
// servers of protocols and the sub-commands. [New] parses a command line into a [Run], [Run.Start]
// starts the front end that the command line names, and [Run.Finish] reports the outcome.
//
// # A front end has no agent loop
//
// A front end opens the project, begins a session, ranges over its Run and answers its questions as
// an engine.Approver. The loop over models and tools is the engine's.
package front

import (
	"cmp"
	"io"
	"os"
	"sync/atomic"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/engine/schema"
	"gemline/engine/tally"
	"gemline/repl"
	"gemline/repl/report"
	"gemline/settings/flags"
	dirs "gemline/settings/project"
	"gemline/tools/mcp/rpc"
)

// A Run is one start of the program.
type Run struct {
	Options   *project.Options
	Status    *project.Status
	store     dirs.Store           // of the directory
	json      *os.File             // of --json-fd, nil without it
	output    *report.Destination  // nil for standard output
	schema    *report.OutputSchema // nil if any answer will do
	stream    *report.Stream       // of a conversation with a program
	count     *tally.Tally
	onBroken  func(error)                 // called when nobody reads standard output any more
	screen    atomic.Pointer[repl.Screen] // of the terminal that lines are read from
	abandoned atomic.Bool                 // the run did not end in time
}

// notify prints a warning at once.
func (r *Run) notify(text string) { r.Status.PrintWarning(text) }

// openProject opens the directory to work in, with the settings of the command line.
func (r *Run) openProject() (*project.Project, error) {
	p, err := project.Open(r.Options, r.Status, r.store)
	if err == nil {
		r.count.Cost = p.Model.Cost
	}
	if err == nil && r.schema != nil && r.schema.Schema != nil {
		for _, problem := range r.schema.Schema.Ignored() {
			r.notify("--json-schema: " + problem)
		}
	}
	return p, err
}

// printsText reports whether the run prints the answer as text.
func (r *Run) printsText(d *report.OutputSchema) bool {
	f := r.Options.Flags
	asText := r.json != nil || cmp.Or(f.Format(), r.Options.Settings.Format, "text") == "text"
	return asText && d == nil && !f.Patch && !f.DryRun
}

// outputSchema returns the schema of the answer, nil if any answer will do.
func outputSchema(f *flags.Set) (*report.OutputSchema, error) {
	switch {
	case f.JSONSchema != "":
		s, err := schema.Load(f.JSONSchema)
		if err != nil {
			return nil, &flags.UsageError{Message: "--json-schema: " + err.Error()}
		}
		return &report.OutputSchema{Schema: s, Repairs: f.MaxRepairs}, nil
	case f.Extract.Set:
		return &report.OutputSchema{Language: f.Extract.Value}, nil
	}
	return nil, nil
}

// outcome classifies an error, without secrets.
func (r *Run) outcome(err error) report.Outcome {
	return ending.Redacted(ending.Of(err), r.Options.Secrets)
}

// Abandon gives the run up, and restores the terminal's mode.
func (r *Run) Abandon() {
	r.abandoned.Store(true)
	if screen := r.screen.Load(); screen != nil {
		screen.Restore()
	}
}

// stdioStream returns the stream of messages at standard input and output.
func stdioStream(p project.Process) rpc.Stream {
	in, feed := io.Pipe() // a read of standard input can't be cancelled
	go func() {
		_, err := io.Copy(feed, p.Stdin)
		feed.CloseWithError(err)
	}()
	return rpc.Lines(in, p.Stdout, in.Close)
}
