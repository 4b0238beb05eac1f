package command

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"gemline/engine"
	"gemline/engine/parallel"
	"gemline/engine/text"
	"gemline/tools/shell"
	"gemline/tools/toolkit"
)

//go:embed doc/read_background_output.md
var readBackgroundOutputDoc string

const readBackgroundOutputSchema = `{"type":"object","properties":{
"pid":{"type":"integer"},
"lines":{"type":"integer","minimum":1,"description":"100 if absent"},
"delay_ms":{"type":"integer","minimum":0,"description":"How long to wait before"}},
"required":["pid"]}`

type readBackgroundOutputArgs struct {
	PID   int64 `json:"pid"`
	Lines int64 `json:"lines"`
	Delay int64 `json:"delay_ms"`
}

// readBackgroundOutput returns the tool that reads the log of a background
// command.
func readBackgroundOutput(env Tools) engine.Tool {
	return toolkit.Define("read_background_output", "Read Background Output", engine.Read,
		readBackgroundOutputDoc, readBackgroundOutputSchema,
		func(_ context.Context, a readBackgroundOutputArgs) (engine.Call, error) {
			return engine.Call{
				Intent: engine.Intent{Title: fmt.Sprintf("read the output of background process %d", a.PID)},
				Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
					if a.Delay > 0 {
						if err := parallel.Sleep(ctx, delay(a.Delay)); err != nil {
							return engine.Result{}, err
						}
					}
					return a.read(env.Launcher.Jobs)
				},
			}, nil
		})
}

func (a readBackgroundOutputArgs) read(jobs *shell.Jobs) (engine.Result, error) {
	lines := 100
	if a.Lines > 0 {
		lines = int(min(a.Lines, 1<<20))
	}
	tail, shown, total, err := jobs.Tail(int(a.PID), lines)
	switch {
	case errors.Is(err, shell.ErrUnknown):
		return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed, Display: "no such background process",
			Message: fmt.Sprintf("Access denied. Background process ID %d not found in this session's history.", a.PID)}
	case err != nil:
		return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed, Display: "no output log",
			Message: fmt.Sprintf("No output log found for process ID %d. %v.", a.PID, err)}
	case total == 0:
		return engine.Result{Text: "Log is empty.", Display: "Log is empty."}, nil
	}
	r := engine.Result{Text: "Full Log Output:\n", Display: fmt.Sprintf("all %d lines", total)}
	if shown < total {
		r.Text = fmt.Sprintf("Showing last %d of %d lines:\n", shown, total)
		r.Display = fmt.Sprintf("last %d of %d lines", shown, total)
	}
	r.Text += text.Untrusted(tail)
	return r, nil
}
