package program

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/docs"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/journal/saved"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/tracker"
	"gemline/tools/workspace"
)

// commands returns what the slash commands may reach. They write to out, and tell by show
// what happens in calls of theirs.
func (f *frontend) commands(out io.Writer, show func(engine.Event)) *commands.Deps {
	app := &commands.Deps{Conversation: conversation(f.session), Out: out, Customs: f.customs(out, show),
		Home: f.opts.Paths.Home, LocateCommand: f.session.project.elsewhere,
		Restart: func(ctx context.Context) (*commands.Conversation, error) {
			err := f.replace(ctx, journal.OpenOptions{}, "clear", "clear")
			return conversation(f.session), err
		},
		Sessions: commands.Sessions{Dir: f.run.store.Chats(), Saved: saved.Store{Dir: f.run.store.Temp},
			Auth: f.session.project.model.method, Clean: f.opts.Secrets.Text, Confirm: f.confirm,
			Resume: func(ctx context.Context, c journal.OpenOptions) (*commands.Conversation, error) {
				err := f.replace(ctx, c, "other", "resume")
				if err == nil {
					_, err = fmt.Fprintln(out, f.session.chat.past.Introduction(time.Now()))
				}
				return conversation(f.session), err
			}},
		Page: func(name string) bool { _, ok := docs.Find(name); return ok },
		Manage: func(ctx context.Context, args ...string) error {
			to := out
			if screen, ok := out.(*output.Writer); ok {
				to = screen.Broken()
			}
			ask := &cli.Asker{Confirm: f.confirm}
			servers := project.ManagedServers{Opts: f.opts, Notify: f.run.notify, Held: f.session.project.mcp.set,
				Open: func() (*launch.Launcher, *workspace.Workspace, error) {
					return f.session.project.launcher, f.session.project.workspace, nil
				}}
			if screen := f.run.shown.Load(); screen != nil {
				if ask.Confirm = screen.Console.Confirm; !screen.Console.Sharing.Left() {
					ask.Secret = screen.Console.Lines.Secret
				}
				ask.Browse, ask.Line = terminal{f.opts}.browse, func(ctx context.Context, question string) (string, error) {
					line, err := screen.Console.Line(ctx, question)
					if err != nil {
						screen.Console.Out.Fresh() // what follows is no answer
					}
					return line, err
				}
			}
			return cli.Run(ctx, printer(f.opts, to, f.run.notify), ask, args,
				append(things(f.opts, sessionProject{f}, f.run.notify), servers, f.session.project.brought.skills, cli.Attach(nil))...)
		},
		Compress:  func(ctx context.Context, keep string) error { return f.session.compress(ctx, keep, show) },
		Ran:       func(path []string, err error) { recordCommand(f.session.models.recorder, path, err) },
		Questions: commands.Questions{Confirm: f.confirm},
		Terminal: commands.Terminal{Copy: func(ctx context.Context, text string) (string, error) {
			return commands.Clipboard(ctx, f.opts.Env.Process.Getenv, shell.Own(f.opts.Env.Process.Environ()), text)
		}},
	}
	if f.session.chat.recorded() {
		app.Discard = func() { f.discard = true }
	}
	if f.session.project.model.setup.Fake == "" {
		app.ServerModels = f.session.project.model.models
	}
	return app
}

// conversation returns what the slash commands reach of the conversation.
func conversation(s *Session) *commands.Conversation {
	models := commands.Models{Presets: s.project.model.presets, Chosen: s.models.router.Shown,
		Choose: func(name string) { s.models.choose(s.engine, name) }, Think: s.models.think}
	return &commands.Conversation{Engine: s.engine, Model: models, Policy: s.rules.policy, Tools: s.tools.all,
		Workspace: s.project.workspace, Journal: s.chat.file, Keeper: s.keeper, Jobs: s.project.launcher.Jobs, Memory: s.memory, Tally: s.Tally,
		Todos: func() []string {
			return append(s.tools.families.Todos.Lines(),
				tracker.Lines(s.tools.families.Tasks)...)
		}, Plan: func() (commands.Plan, error) { return readPlan(s.tools.families.Plans) }, About: func() []commands.Property { return about(s) }, Mode: s.rules.mode, Directories: s.chat.file.SetDirectories}
}

// replace ends the conversation and begins or resumes another with the same model, approval
// mode and directories. Grants are forgotten and the budget starts anew. Hooks are told the
// reason. If the other conversation can't begin, the current one stays.
func (f *frontend) replace(ctx context.Context, c journal.OpenOptions, reason, source string) error {
	next := f.session.Choice
	next.OpenOptions, next.Directories = c, f.session.project.workspace.Roots()[1:]
	next.Model, next.Thinking = f.session.models.router.Wanted(), f.session.models.thinking
	next.Policy, next.Tally = f.session.Policy.As(f.session.Policy.Unattended), newTally()
	next.Policy.Forget()
	s, err := f.session.project.Begin(ctx, next)
	if err != nil {
		return err
	}
	f.session.summarize(ctx)
	f.session.end(ctx, reason)
	f.session.Close()
	f.session.project.model.budget.Renew()
	f.setSession(s)
	s.addContext(ctx, s.start(ctx, source))
	return nil
}

// about says what a conversation is held with.
func about(s *Session) []commands.Property {
	return []commands.Property{
		{Name: "version", Value: s.project.opts.Env.Process.Version},
		{Name: "model", Value: s.models.router.Shown()},
		{Name: "approval mode", Value: string(s.rules.policy.Mode())},
		{Name: "session", Value: text.ShortID(s.chat.file.ID())},
		{Name: "session file", Value: s.chat.file.Path()},
		{Name: "directory", Value: s.project.opts.Paths.Cwd},
		{Name: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "sandbox", Value: s.project.launcher.State().Name + ": " + s.project.launcher.State().Step},
		{Name: "variables kept from commands", Value: cmp.Or(strings.Join(shell.Withheld(s.project.opts.Env.Environ(), s.project.launcher.Config.Shell), ", "), "none")},
	}
}
