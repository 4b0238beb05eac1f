package input

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

// maxShellHistory is the longest output of a command for the model, in characters.
const maxShellHistory = 10_000

// Shell is the step for commands that the user runs: a typed line that begins with an exclamation
// mark, or every input in shell mode. An exclamation mark alone switches the mode. It is not safe
// for concurrent use.
type Shell struct {
	// Run runs command, shows its output and returns the text for the model. Text beside an error
	// is the output before the error.
	Run func(ctx context.Context, command string) (text string, err error)

	// Add adds a message to the conversation without a request.
	Add func(ctx context.Context, parts ...*genai.Part) error

	// Notify prints that the mode has changed.
	Notify func(string)

	// Composed returns the last input, or "" if it was a typed line. A composed input is a command
	// only in shell mode, like text of several lines.
	Composed func() string

	on bool
}

// Mode reports whether every line is a command.
func (s *Shell) Mode() bool { return s.on }

// Step is the [Step] of s.
func (s *Shell) Step(next Processor) Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		line := strings.TrimSpace(text(parts))
		command, marked := strings.CutPrefix(line, "!")
		switch {
		case line == "" || !marked && !s.on:
			return next(ctx, parts)
		case !s.on && (strings.HasPrefix(command, "{") || // a command inside a prompt
			strings.Contains(line, "\n") || s.Composed != nil && line == strings.TrimSpace(s.Composed())):
			return next(ctx, parts)
		case line == "!":
			s.toggle()
			return nil, nil
		case moves(command):
			say(s.Notify, "changing the directory has no effect: each command begins where gemline was started; "+
				"/directory add DIR adds one to work in, and gemline started in DIR works there")
			return nil, nil
		}
		return nil, s.run(ctx, strings.TrimSpace(command))
	}
}

// moves reports whether command only changes its own directory.
func moves(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && slices.Contains([]string{"cd", "chdir", "pushd", "popd"}, words[0]) &&
		!strings.ContainsAny(command, ";&|\n")
}

func (s *Shell) toggle() {
	if s.on = !s.on; s.on {
		say(s.Notify, "shell mode: every line is a command; a lone ! ends it")
	} else {
		say(s.Notify, "shell mode is off")
	}
}

func (s *Shell) run(ctx context.Context, command string) error {
	out, err := s.Run(ctx, command)
	if err != nil && out == "" {
		return err
	}
	// A cancelled command has run, so the model must know about it.
	return errors.Join(err, s.Add(context.WithoutCancel(ctx), genai.NewPartFromText(ran(command, out))))
}

// ran returns the message to the model about a command of the user.
func ran(command, out string) string {
	if r := []rune(out); len(r) > maxShellHistory {
		out = string(r[:maxShellHistory]) + "\n... (truncated)"
	}
	out = strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(out)
	return fmt.Sprintf(engine.ShellCommand+"%s\n```\n\nThis produced the following result:\n```\n%s\n```", command, out)
}

// ExpandCommands returns the step that replaces each !{command} in a prompt by the result of run.
// Run judges the command and asks for approval, as for a call of the model. Its error keeps the
// whole prompt from being sent. Code, diffs and the texts of pasted contain no commands; pasted may
// be nil.
//
// The commands run one after the other, after the later steps of the chain.
func ExpandCommands(run func(ctx context.Context, command string) (string, error), pasted func() []string) Step {
	return func(next Processor) Processor {
		return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
			spans, err := braces(text(parts), literal(text(parts), pasted)...)
			if err != nil {
				return nil, err
			}
			if parts, err = next(ctx, parts); err != nil || len(parts) == 0 || len(spans) == 0 {
				return parts, err
			}
			// A later step may have moved the commands. If it has replaced the prompt, the prompt
			// is left alone.
			s := text(parts)
			moved, err := braces(s, literal(s, pasted)...)
			if err != nil || !slices.EqualFunc(spans, moved, func(a, b span) bool { return a.command == b.command }) {
				return parts, nil
			}
			var b strings.Builder
			at := 0
			for _, sp := range moved {
				out, err := run(ctx, sp.command)
				if err != nil {
					return nil, UnsentError(ctx, "!{"+sp.command+"}", err)
				}
				b.WriteString(s[at:sp.start])
				b.WriteString(out)
				at = sp.end
			}
			b.WriteString(s[at:])
			return withText(parts, b.String()), nil
		}
	}
}

// UnsentError is the error of a prompt that can't be sent, since err prevented the replacement of a
// mark.
func UnsentError(ctx context.Context, mark string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.Canceled) { // the user has cancelled a question
		return err
	}
	return &Error{Message: fmt.Sprintf("the prompt was not sent, because of %s: %v", mark, err), Err: err}
}
