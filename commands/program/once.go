package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"gemline/commands"
	"gemline/engine"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
)

// once answers one prompt.
func (s *session) once(ctx context.Context, reporter repl.Reporter) error {
	defer s.close()
	approver, err := s.approver(ctx)
	if err != nil {
		return err
	}
	if err := s.build(ctx, approver); err != nil {
		return err
	}
	p, err := s.piped(ctx)
	if err != nil {
		return err
	}
	return s.reply(ctx, approver, reporter, p)
}

// reply answers the one prompt of a run.
func (s *session) reply(ctx context.Context, approver engine.Approver, reporter repl.Reporter, p repl.Prompt) error {
	app := s.commands(approver, repl.Speaker(reporter))
	ask := s.answer
	if s.demand == nil { // which knows better what is missing
		ask = repl.Whole(ask)
	}
	runner := &repl.Once{Engine: s.engine, Reporter: reporter, Tally: s.count, Session: s.journal.ID(), Now: time.Now, FailOnDeny: s.flags.FailOnDeny,
		NoRestart: s.flags.Stream == "token" && !s.flags.AllowRestart && s.text() && !isTerminal(s.os.Stdout), Ask: ask, Demand: s.demand, Expand: input.Chain(app.Commands.Step(app), s.files().Step)}
	if err := runner.Run(ctx, p); err != nil && !errors.Is(err, commands.ErrQuit) {
		return err
	}
	if dir := s.rehearsal.Elsewhere(); dir != "" {
		s.notify(fmt.Sprintf("the patch edits files outside of this directory: apply it in %s", dir))
	}
	return nil
}

// nobody is the approver of a run without a user.
func (s *session) nobody() *repl.Headless {
	return &repl.Headless{FailOnAsk: s.flags.FailOnAsk, Flags: s.allowing}
}

// approver returns who decides in a run without a session: nobody, or with
// --ask-tty whoever sits at the terminal, whatever the streams are.
func (s *session) approver(ctx context.Context) (engine.Approver, error) {
	if !s.flags.AskTTY {
		return s.nobody(), nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, &input.Error{Message: "--ask-tty: there is no terminal to ask at", Err: err}
	}
	out := output.New(tty, output.Options{ASCII: s.settings.ASCII})
	lines, err := repl.NewLines(repl.LinesConfig{In: tty, Out: out, Screen: tty})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { lines.Close(); tty.Close() })
	console := &repl.Console{Out: out, Lines: lines, Stable: s.flags.PromptFormat == "stable", Spoken: output.Decide(s.signs()).Asked, Shared: isTerminal(s.os.Stdout) || isTerminal(s.os.Stderr)}
	s.shown.Store(&repl.Screen{Console: console})
	return &repl.Asker{Console: console}, s.enter(ctx, console)
}

// attended reports whether anybody is there to ask.
func (s *session) attended() bool { return s.interactive || s.flags.AskTTY }

// answered reports whether the model's questions are, by a person or a program.
func (s *session) answered() bool {
	return s.attended() || s.flags.Talks() && !s.flags.NoInput
}

// serve holds a session with a program.
func (s *session) serve(ctx context.Context, reporter repl.Reporter) error {
	defer s.close()
	nobody, err := s.approver(ctx)
	if err != nil {
		return err
	}
	t := &repl.Talk{In: s.os.Stdin, Reporter: reporter, Tally: s.count, Now: time.Now, Outcome: s.outcome, Nobody: nobody,
		FailOnDeny: s.flags.FailOnDeny, Session: func() string { return s.journal.ID() }}
	var approver engine.Approver = t
	if s.flags.NoInput || s.flags.AskTTY {
		approver = nobody
	}
	s.notify = s.redacting(t.Notify)
	if err := s.build(ctx, approver); err != nil {
		return err
	}
	app := s.commands(approver, t)
	t.Expand = input.Chain(app.Commands.Step(app), s.files().Step)
	t.Engine = repl.Whole(s.answer)
	return t.Run(ctx, repl.Init{Model: s.engine.Model()})
}

// piped returns the prompt of the command line and of standard input.
func (s *session) piped(ctx context.Context) (repl.Prompt, error) {
	p := repl.Prompt{Text: input.Words(s.flags.Text(), s.notify)}
	in := input.Stdin{Terminal: isTerminal(s.os.Stdin), Force: s.flags.Stdin || s.flags.Dash(), Forbid: s.flags.NoStdin, Prompt: p.Text != ""}
	info, err := s.os.Stdin.Stat()
	if err != nil {
		in.Closed = true
	} else {
		in.Mode = info.Mode()
	}
	if !in.Wanted() {
		return p, nil
	}
	b, err := input.ReadAll(ctx, s.os.Stdin, input.MaxStdin, s.notify)
	if err != nil {
		return p, err
	}
	d, err := input.Decode(b, s.notify)
	p.Piped, p.Media, p.Bytes, p.Encoding = d.Text, d.Media, d.Bytes, d.Encoding
	return p, err
}
