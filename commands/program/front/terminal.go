package front

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/term"

	"gemline/commands"
	"gemline/commands/program/project"
	"gemline/repl"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// A terminal is the user's terminal, by the process and the settings.
type terminal struct{ opts *project.Options }

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// smart reports whether a session would do more than print lines. Only then do commands print
// columns.
func (t terminal) smart() bool { return output.Decide(t.opts.Signs()).Smart }

// width returns the present width of the terminal, 0 if it is unknown.
func (t terminal) width() int {
	columns, _, _ := term.GetSize(int(t.opts.Env.Process.Stdout.Fd()))
	return columns
}

// columns returns the width of the terminal for layout, 0 without a terminal and a setting.
func (t terminal) columns() int {
	if isTerminal(t.opts.Env.Process.Stdout) {
		return t.width()
	}
	n, _ := strconv.Atoi(t.opts.Env.Process.Getenv("COLUMNS"))
	return n
}

// password asks for a text that is not shown.
func (t terminal) password(_ context.Context, question string) (string, error) {
	fmt.Fprint(t.opts.Env.Process.Stderr, output.EscapeLine(question))
	defer fmt.Fprintln(t.opts.Env.Process.Stderr)
	b, err := term.ReadPassword(int(t.opts.Env.Process.Stdin.Fd()))
	return string(b), err
}

// edit lets the user change text in an editor.
func (t terminal) edit(ctx context.Context, name, text string) (string, error) {
	return repl.Editor(t.editor(), shell.UserEnvironment(t.opts.Env.Process.Environ()), t.opts.Env.Process.Stdin, t.opts.Env.Process.Stdout, t.opts.Env.Process.Stderr)(ctx, name, text)
}

// editor returns the command of the user's editor.
func (t terminal) editor() string {
	return cmp.Or(repl.EditorCommand(t.opts.Settings.Editor, t.opts.Settings.NewWindow, inPath),
		t.opts.Env.Process.Getenv("VISUAL"), t.opts.Env.Process.Getenv("EDITOR"), repl.DefaultEditor(inPath))
}

// inPath reports whether a program is installed.
func inPath(program string) bool { _, err := exec.LookPath(program); return err == nil }

// pager returns a function that shows a long text with the program in PAGER. It is nil without such
// a program, in plain mode, and unless standard input and output are terminals.
func (t terminal) pager() func(context.Context, string) error {
	command := strings.TrimSpace(t.opts.Env.Process.Getenv("PAGER"))
	if command == "" || command == "cat" || !isTerminal(t.opts.Env.Process.Stdin) || !isTerminal(t.opts.Env.Process.Stdout) ||
		!t.smart() {
		return nil
	}
	return func(ctx context.Context, text string) error {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), t.opts.Env.Process.Stdout, t.opts.Env.Process.Stderr
		cmd.Env = append([]string{"LESS=FRX"}, shell.UserEnvironment(t.opts.Env.Process.Environ())...) // the last value of LESS counts
		if err := cmd.Run(); err == nil || ctx.Err() != nil {
			return nil
		}
		_, err := t.opts.Env.Process.Stdout.WriteString(text) // if the pager fails, the text is printed
		return err
	}
}

// browse opens an address for a user at a terminal.
func (t terminal) browse(address string, wanted bool) string {
	if t.opts.Settings.Offline || !wanted && (!isTerminal(t.opts.Env.Process.Stdin) || t.opts.Flags.NoInput) {
		return ""
	}
	return commands.Browse(t.opts.Env.Process.Getenv, shell.UserEnvironment(t.opts.Env.Process.Environ()), address, wanted)
}
