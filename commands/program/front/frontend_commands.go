package front

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
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
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

// commands returns the dependencies of the slash commands. They write to out, and show prints the
// events of their calls.
func (f *frontend) commands(out io.Writer, show func(engine.Event)) *commands.Deps {
	app := &commands.Deps{Conversation: conversation(f.session), Out: out, Customs: f.customs(out, show),
		Home: f.opts.Paths.Home, LocateCommand: func(name string) string { return commandHint(f.session.Project, name) },
		Restart: func(ctx context.Context) (*commands.Conversation, error) {
			err := f.replace(ctx, journal.OpenOptions{}, "clear", "clear")
			return conversation(f.session), err
		},
		Sessions: commands.Sessions{Dir: f.run.store.Chats(), Saved: saved.Store{Dir: f.run.store.Temp},
			Auth: f.session.Project.Model.AuthMethod, Clean: f.opts.Secrets.Text,
			Resume: func(ctx context.Context, c journal.OpenOptions) (*commands.Conversation, error) {
				err := f.replace(ctx, c, "other", "resume")
				if err == nil {
					_, err = fmt.Fprintln(out, f.session.Journal.Resumed.Introduction(time.Now()))
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
			servers := project.ManagedServers{Options: f.opts, Notify: f.run.notify, Connected: f.session.Project.MCP.Servers,
				Open: func() (*launch.Launcher, *workspace.Workspace, error) {
					return f.session.Project.Launcher, f.session.Project.Workspace, nil
				}}
			if screen := f.run.screen.Load(); screen != nil {
				if ask.Confirm = screen.Console.Confirm; !screen.Console.Sharing.IsLeft() {
					ask.Secret = screen.Console.Lines.Secret
				}
				ask.Browse, ask.Line = terminal{f.opts}.browse, func(ctx context.Context, question string) (string, error) {
					line, err := screen.Console.Line(ctx, question)
					if err != nil {
						screen.Console.Out.Fresh() // the following lines are no part of an answer
					}
					return line, err
				}
			}
			return cli.Run(ctx, cliOutput(f.opts, to, f.run.notify), ask, args,
				append(subcommandDeps(f.opts, sessionProject{f}, f.run.notify), servers, f.session.Project.Skills, cli.Attach(nil))...)
		},
		Compress:  func(ctx context.Context, keep string) error { return f.session.Compress(ctx, keep, show) },
		Ran:       func(path []string, err error) { f.session.Models.RecordCommand(path, err) },
		Questions: commands.Questions{Confirm: f.confirm},
		Terminal: commands.Terminal{Copy: func(ctx context.Context, text string) (string, error) {
			return commands.Clipboard(ctx, f.opts.Env.Process.Getenv, shell.UserEnvironment(f.opts.Env.Process.Environ()), text)
		}},
	}
	if f.session.Journal.Recorded() {
		app.Discard = func() { f.discard = true }
	}
	if f.session.Project.Model.Setup.Fake == "" {
		app.ServerModels = f.session.Project.Model.ListModels
	}
	return app
}

// conversation returns the part of a conversation that the slash commands use.
func conversation(s *session.Session) *commands.Conversation {
	models := commands.Models{Presets: s.Project.Model.Presets, Chosen: s.Models.Router.Shown,
		Choose: func(name string) { s.Models.Choose(s.Engine, name) }, Think: s.Models.Think}
	return &commands.Conversation{Engine: s.Engine, Model: models, Policy: s.Rules.Policy, Tools: s.Tools.Toolset,
		Workspace: s.Project.Workspace, Journal: s.Journal.File, Keeper: s.Keeper, Jobs: s.Project.Launcher.Jobs, Memory: s.Memory, Tally: s.Config.Tally,
		Todos: func() []string {
			return append(s.Tools.Families.Todos.Lines(),
				tracker.Lines(s.Tools.Families.Tasks)...)
		}, Plan: s.Tools.ReadPlan, About: func() []commands.Property { return properties(s) }, Mode: s.Rules.ModeCommand, Directories: func(dirs []string) error {
			s.Rules.LeaveAuto()
			return s.Journal.File.SetDirectories(dirs)
		}}
}

// replace ends the conversation and begins or resumes another. The budget is reset. Hooks are told
// the reason. If the other conversation can't begin, the current one stays.
func (f *frontend) replace(ctx context.Context, c journal.OpenOptions, reason, source string) error {
	s, err := session.BeginNext(ctx, f.session, c, ending.NewTally())
	if err != nil {
		return err
	}
	f.session.Summarize(ctx)
	f.session.RunEndHooks(ctx, reason)
	f.session.Close()
	f.session.Project.Model.Budget.Reset()
	f.setSession(s)
	s.AddContext(ctx, s.RunStartHooks(ctx, source))
	return nil
}

// properties returns the properties of a conversation that /about prints.
func properties(s *session.Session) []commands.Property {
	return []commands.Property{
		{Name: "version", Value: s.Project.Options.Env.Process.Version},
		{Name: "model", Value: s.Models.Router.Shown()},
		{Name: "approval mode", Value: string(s.Rules.Policy.Mode())},
		{Name: "session", Value: text.ShortID(s.Journal.File.ID())},
		{Name: "session file", Value: s.Journal.File.Path()},
		{Name: "directory", Value: s.Project.Options.Paths.Cwd},
		{Name: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "sandbox", Value: s.Project.Launcher.State().Name + ": " + s.Project.Launcher.State().Step},
		{Name: "variables kept from commands", Value: cmp.Or(strings.Join(shell.Withheld(s.Project.Options.Env.Environ(), s.Project.Launcher.Config.Shell), ", "), "none")},
	}
}
