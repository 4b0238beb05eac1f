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
func (s *session) pager() func(context.Context, string) error {
	command := strings.TrimSpace(s.os.getenv("PAGER"))
	if command == "" || command == "cat" || !isTerminal(s.os.Stdin) || !isTerminal(s.os.Stdout) || !output.Decide(s.signs()).Smart {
		return nil
	}
	return func(ctx context.Context, text string) error {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), s.os.Stdout, s.os.Stderr
		cmd.Env = append([]string{"LESS=FRX"}, shell.Own(s.os.Environ())...) // the last one counts
		if err := cmd.Run(); err == nil || ctx.Err() != nil {
			return nil
		}
		_, err := s.os.Stdout.WriteString(text) // a pager that can't be had is no reason to show nothing
		return err
	}
}
