package program

import (
	"cmp"
	"os"
	"sync/atomic"

	"gemline/commands/program/project"
	"gemline/engine/schema"
	"gemline/engine/tally"
	"gemline/repl"
	"gemline/repl/report"
	"gemline/settings/flags"
	dirs "gemline/settings/project"
)

// A run is one start of the program.
type run struct {
	opts      *project.Options
	status    *status
	store     dirs.Store           // where what is kept of the directory is
	json      *os.File             // of --json-fd, nil without
	output    *report.Destination  // nil for standard output
	schema    *report.OutputSchema // nil if any answer will do
	stream    *report.Stream       // of a conversation with a program
	count     *tally.Tally
	broken    func(error)                 // told that standard output is gone
	shown     atomic.Pointer[repl.Screen] // of the terminal that is read from
	abandoned atomic.Bool                 // the run did not end when it was told to
}

// notify tells what is odd but no error.
func (r *run) notify(text string) { r.status.warn(text) }

// openProject opens the directory to work in, with the settings of the command line.
func (r *run) openProject() (*Project, error) {
	p, err := Open(r.opts, r.status, r.store)
	if err == nil {
		r.count.Cost = p.model.cost
	}
	return p, err
}

// text reports whether the answer, as text, is what the run prints.
func (r *run) text(d *report.OutputSchema) bool {
	f := r.opts.Flags
	asText := r.json != nil || cmp.Or(f.Format(), r.opts.Settings.Format, "text") == "text"
	return asText && d == nil && !f.Patch && !f.DryRun
}

// outputSchema returns what the answer must hold, nil if any will do.
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

// outcome classifies what went wrong, and tells no secret.
func (r *run) outcome(err error) report.Outcome { return redacted(outcome(err), r.opts.Secrets) }
