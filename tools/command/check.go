package command

import (
	"context"
	"errors"
	"strings"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/outputs"
)

// Exit codes for commands that ended without one, as in shells and timeout(1).
const (
	codeLate      = 124
	codeUnstarted = 126
	codeSignal    = 128 // plus the signal's number
)

// Check runs the user's command that checks the model's work, with the rights of the model's
// commands. It returns the result for the model, the exit code, and the failure. Processes
// that the command leaves running are ended.
func (env Tools) Check(ctx context.Context, command string) (res engine.Result, code int, err error) {
	o := env.Launcher.Run(ctx, launch.Command{Text: command, Dir: env.Workspace.Roots()[0], KillLeftovers: true})
	switch code = o.Code; {
	case o.Err != nil:
		code = codeUnstarted
	case o.Limit > 0:
		code = codeLate
	case o.Signal > 0:
		code = codeSignal + o.Signal
	}
	env.Outputs.Distill = outputs.Distillation{} // the output is not that of a tool call
	res, err = env.outcome(o)
	const notRun, notFound = 126, 127 // as in shells
	if failed := (*engine.CallError)(nil); errors.As(err, &failed) && (code == notRun || code == notFound) {
		said := strings.TrimSpace(o.Output)
		failed.Display = strings.TrimSuffix(failed.Display+": "+said[strings.LastIndexByte(said, '\n')+1:], ": ")
	}
	return res, code, err
}
