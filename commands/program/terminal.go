package program

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
	"gemline/repl"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// A terminal is what the user sits at, as the process and the settings have it.
type terminal struct{ opts *Options }

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// smart reports whether a session there is more than lines: for nobody else do commands lay out columns.
func (t terminal) smart() bool { return output.Decide(t.opts.signs()).Smart }

// width returns how wide the terminal is now, 0 if it does not say.
func (t terminal) width() int {
	columns, _, _ := term.GetSize(int(t.opts.os.Stdout.Fd()))
	return columns
}

// columns returns how wide the terminal is, 0 if there is none and nobody says.
func (t terminal) columns() int {
	if isTerminal(t.opts.os.Stdout) {
		return t.width()
	}
	n, _ := strconv.Atoi(t.opts.os.getenv("COLUMNS"))
	return n
}

// password asks for what is not shown.
func (t terminal) password(_ context.Context, question string) (string, error) {
	fmt.Fprint(t.opts.os.Stderr, question)
	defer fmt.Fprintln(t.opts.os.Stderr)
	b, err := term.ReadPassword(int(t.opts.os.Stdin.Fd()))
	return string(b), err
}

// edit lets the user change text in an editor.
func (t terminal) edit(ctx context.Context, name, text string) (string, error) {
	return repl.Editor(t.editor(), shell.Own(t.opts.os.Environ()), t.opts.os.Stdin, t.opts.os.Stdout, t.opts.os.Stderr)(ctx, name, text)
}

// editor returns the command of the user's editor.
func (t terminal) editor() string {
	return cmp.Or(repl.EditorCommand(t.opts.settings.Editor, t.opts.settings.NewWindow, inPath),
		t.opts.os.getenv("VISUAL"), t.opts.os.getenv("EDITOR"), repl.UsualEditor(inPath))
}

// inPath reports whether a program is found.
func inPath(program string) bool { _, err := exec.LookPath(program); return err == nil }

// pager returns what shows a long text with the program that PAGER names, nil
// in plain mode and where there is no terminal at both ends.
func (t terminal) pager() func(context.Context, string) error {
	command := strings.TrimSpace(t.opts.os.getenv("PAGER"))
	if command == "" || command == "cat" || !isTerminal(t.opts.os.Stdin) || !isTerminal(t.opts.os.Stdout) ||
		!t.smart() {
		return nil
	}
	return func(ctx context.Context, text string) error {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), t.opts.os.Stdout, t.opts.os.Stderr
		cmd.Env = append([]string{"LESS=FRX"}, shell.Own(t.opts.os.Environ())...) // the last one counts
		if err := cmd.Run(); err == nil || ctx.Err() != nil {
			return nil
		}
		_, err := t.opts.os.Stdout.WriteString(text) // a pager that can't be had is no reason to show nothing
		return err
	}
}

// browse opens an address for the user who sits at a terminal.
func (r *run) browse(address string, wanted bool) string {
	if !wanted && (!isTerminal(r.opts.os.Stdin) || r.opts.flags.NoInput) {
		return ""
	}
	return commands.Browse(r.opts.os.getenv, shell.Own(r.opts.os.Environ()), address, wanted)
}
