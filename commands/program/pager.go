package program

import (
	"context"
	"os/exec"
	"strings"

	"gemline/repl/output"
	"gemline/tools/shell"
)

// pager returns what shows a long text with the program that PAGER names, nil
// in plain mode and where there is no terminal at both ends.
func (o *Options) pager() func(context.Context, string) error {
	command := strings.TrimSpace(o.os.getenv("PAGER"))
	if command == "" || command == "cat" || !isTerminal(o.os.Stdin) || !isTerminal(o.os.Stdout) || !output.Decide(o.signs()).Smart {
		return nil
	}
	return func(ctx context.Context, text string) error {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), o.os.Stdout, o.os.Stderr
		cmd.Env = append([]string{"LESS=FRX"}, shell.Own(o.os.Environ())...) // the last one counts
		if err := cmd.Run(); err == nil || ctx.Err() != nil {
			return nil
		}
		_, err := o.os.Stdout.WriteString(text) // a pager that can't be had is no reason to show nothing
		return err
	}
}
