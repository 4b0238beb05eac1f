package command

import (
	"context"
	"errors"
	"strings"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/outputs"
)

// Exit codes of commands that have none, as shells and timeout(1) have them.
const (
	codeLate      = 124
	codeUnstarted = 126
	codeSignal    = 128 // and its number
)

// Check runs a command of the user's that checks the model's work, with the rights of the
// model's own. It returns the result for the model, the exit code, and why the check
// failed. Processes that it left running are ended.
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
	env.Outputs.Distill = outputs.Distillation{} // this is no tool's output
	res, err = env.outcome(o)
	const notRun, notFound = 126, 127 // as shells have it
	if failed := (*engine.CallError)(nil); errors.As(err, &failed) && (code == notRun || code == notFound) {
		said := strings.TrimSpace(o.Output)
		failed.Display = strings.TrimSuffix(failed.Display+": "+said[strings.LastIndexByte(said, '\n')+1:], ": ")
	}
	return res, code, err
}
