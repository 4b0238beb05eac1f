package front

import (
	"context"
	"os"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/report"
)

// once answers one prompt.
func (r *Run) once(ctx context.Context, reporter report.Reporter) error {
	f := newFrontend(r)
	defer f.close()
	approver, err := f.approver(ctx)
	if err != nil {
		return err
	}
	if err := f.begin(ctx, approver); err != nil {
		return err
	}
	p, err := readPrompt(ctx, r.Options, r.notify)
	if err != nil {
		return err
	}
	p.Context = f.startContext
	return f.reply(ctx, reporter, r.count, p)
}

// approver returns the approver of a run without a session. With --ask-tty, it asks the user at the
// terminal, wherever the streams lead; otherwise it is nil.
func (f *frontend) approver(ctx context.Context) (engine.Approver, error) {
	if !f.opts.Flags.AskTTY {
		return nil, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, &input.Error{Message: "--ask-tty: there is no terminal to ask at", Err: err}
	}
	out := output.New(tty, output.Options{ASCII: f.opts.Settings.ASCII || output.OnlyASCII(f.opts.Env.Process.Lookup)})
	console := &repl.Console{Out: out, Stable: f.opts.Flags.PromptFormat == "stable",
		Spoken:      output.Decide(f.opts.Signs()).Asked,
		Interleaved: isTerminal(f.opts.Env.Process.Stdout) || isTerminal(f.opts.Env.Process.Stderr)}
	screen := &repl.Screen{Console: console, Config: repl.LinesConfig{In: tty, Out: out, Screen: tty}}
	if err := screen.Open(); err != nil {
		return nil, err
	}
	f.closers = append(f.closers, func() { screen.Close(); tty.Close() })
	f.run.screen.Store(screen)
	return &repl.Asker{Console: console}, f.run.enterFolder(ctx, console)
}

// readPrompt joins the prompt of the command line with that of standard input.
func readPrompt(ctx context.Context, o *project.Options, notify func(string)) (report.Prompt, error) {
	p := report.Prompt{Text: input.PromptText(o.Flags.Text(), project.Charsets(o), notify)}
	in := input.Stdin{Terminal: isTerminal(o.Env.Process.Stdin), Force: o.Flags.Stdin || o.Flags.Dash(),
		Forbid: o.Flags.NoStdin, Prompt: p.Text != ""}
	info, err := o.Env.Process.Stdin.Stat()
	if err != nil {
		in.Closed = true
	} else {
		in.Mode = info.Mode()
	}
	if !in.ShouldRead() {
		return p, nil
	}
	b, err := input.ReadAll(ctx, o.Env.Process.Stdin, input.MaxStdin, notify)
	if err != nil {
		return p, err
	}
	d, err := input.Decode(b, project.Charsets(o), notify)
	p.Piped, p.Media, p.Bytes, p.Encoding = d.Text, d.Media, d.Bytes, d.Encoding
	return p, err
}
