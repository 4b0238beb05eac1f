package front

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gemline/commands"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/charset"
	"gemline/engine/lists"
	"gemline/engine/model/preset"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// labels returns the user's words for labels, and the problem of the setting.
func labels(s *settings.Settings) (words output.Words, wrong string) {
	words, err := output.Rename(s.Labels())
	if err != nil {
		wrong = fmt.Sprintf("ui.labels: %v; all labels keep their names", err)
	}
	return words, wrong
}

// openScreen decides how the terminal is written to and read from.
func (i *interactive) openScreen() error {
	at := terminal{i.opts}
	signs := i.opts.Signs()
	mode := output.Decide(signs)
	signs.Flag, signs.FlagOff = "/accessible", true
	best := output.Decide(signs)
	stable := i.opts.Flags.PromptFormat == "stable"
	if stable {
		best = output.Mode{Cause: "--prompt-format stable"}
		if !mode.Asked {
			mode = best
		}
	}
	words, wrong := labels(i.opts.Settings)
	if wrong != "" {
		i.opts.Warnings = append(i.opts.Warnings, wrong)
	}
	console := &repl.Console{Stable: stable, Spoken: mode.Asked,
		Sharing: repl.Sharing{OnHangup: i.opts.Settings.OnHangup == "detach"}}
	out := output.New(&repl.ScreenFile{File: i.opts.Env.Process.Stdout, Sharing: &console.Sharing},
		output.Options{Color: mode.Color, Marks: mode.Marks, ASCII: i.opts.Settings.ASCII || output.OnlyASCII(i.opts.Env.Process.Lookup), Words: words})
	_, echoed := i.opts.Env.Process.Lookup("INSIDE_EMACS")
	config := repl.LinesConfig{In: i.opts.Env.Process.Stdin, Out: out, Screen: i.opts.Env.Process.Stdout, Mode: mode,
		Echoed: echoed, Decode: charset.Typed(project.Locale(i.opts)),
		NoEcho: i.opts.Flags.NoEcho, Single: stable || i.opts.Settings.PasteLines == "single", Jobs: true,
		Complete: func(ctx context.Context, line string, at int) (int, []input.Candidate) {
			return i.complete(ctx, line, at)
		}}
	config.Keymap = readKeys(i.opts, mode.Smart && isTerminal(i.opts.Env.Process.Stdin))
	if at.editor() != "" {
		config.Edit = at.edit
	}
	console.Out = out
	if isTerminal(i.opts.Env.Process.Stdin) {
		console.Sharing.Gone = func() bool { return !isTerminal(i.opts.Env.Process.Stdin) }
	}
	config.NextMode = i.nextMode
	i.screen = &repl.Screen{Console: console, Config: config, Mode: mode, Best: best, Lookup: i.opts.Env.Process.Lookup}
	i.screen.Config.History = i.history(func(text string) { i.screen.Show(func() { i.frontend.notify(text) }) })
	return i.screen.Open()
}

// setUpScreen sets the parts of the screen that depend on the settings, and connects the printers
// of events.
func (i *interactive) setUpScreen() {
	i.screen.Pace, i.screen.Detail, i.screen.Vi = i.opts.Settings.Stream, i.opts.Settings.Detail, i.opts.Settings.Vi
	i.screen.Printer = &repl.Printer{Out: i.screen.Console.Out, Tally: i.frontend.run.count, Uncited: !i.opts.Settings.Cite, Thoughts: i.opts.Settings.Thinking == "full",
		Kind:  func(name string) engine.Kind { return engine.KindOf(i.frontend.session.Tools.Toolset, name) },
		Heard: i.frontend.session.Project.Model.LastHeard, Hook: func() string { return i.frontend.session.Hooks.Running() },
		Files: func() (int, bool) { return i.frontend.session.Keeper.Files() }}
	if i.opts.Settings.Layout != "plain" {
		i.screen.Columns = terminal{i.opts}.width
	}
	i.screen.Begin()
	if !i.opts.Settings.Notifications && i.opts.Settings.NotifyCommand == "" {
		return
	}
	n := &repl.Notifier{Method: i.opts.Settings.NotifyMethod, Environ: shell.Environment(i.opts.Env.Environ(), i.frontend.session.Project.Launcher.Config.Shell),
		Terminal: i.screen.Console.Out.Terminal(), Smart: i.screen.Mode.Smart,
		Lookup: i.opts.Env.Process.Lookup, Dir: i.opts.Paths.Cwd, ID: func() string { return i.frontend.session.Journal.File.ID() }, Warn: func(text string) { i.frontend.notify(text) }}
	if command := i.opts.Settings.NotifyCommand; command != "" {
		n.Command = []string{"sh", "-c", command}
		if runtime.GOOS == "windows" {
			n.Command = []string{"cmd", "/c", command}
		}
	}
	if i.opts.Settings.Offline {
		n.Confine = sandbox.CutNetwork
	}
	i.screen.Console.Notifier = n
}

// screenCommands returns the functions with which slash commands change a screen.
func screenCommands(s *repl.Screen) *commands.Screen {
	return &commands.Screen{
		Accessible: s.SetAccessible, Stream: s.SetPace, Detail: s.SetDetail, Vi: s.SetVi,
		Patch: s.Console.ShowPatch,
		Asked: func(text string) {
			for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
				if line = output.EscapeLine(line); n == 0 {
					s.Console.Out.Line(output.You, "%s", line)
				} else {
					s.Console.Out.Text("  " + line + "\n")
				}
			}
		},
		Answer: s.Printer.Answer, Entered: s.Entered,
		Kept: func() []commands.Output {
			return lists.Map(s.Printer.Truncated(), func(o repl.Output) commands.Output { return commands.Output(o) })
		},
	}
}

// history returns earlier inputs; prompts and commands each have a file.
func (i *interactive) history(warn func(string)) repl.InputHistory {
	file := func(name string) repl.HistoryConfig {
		c := repl.HistoryConfig{Secrets: i.opts.Secrets,
			Session: func() string { return i.frontend.session.Journal.File.ID() }, Now: time.Now, Warn: warn}
		if i.frontend.run.store.Temp != "" {
			c.Path = filepath.Join(i.frontend.run.store.Temp, name)
		}
		return c
	}
	return repl.Histories(repl.PromptHistory(file("logs.json")),
		repl.CommandHistory(file("shell_history")), i.typed.Mode)
}

// completion returns the completion for the Tab key.
func (i *interactive) completion(app *commands.Deps) commands.Completion {
	names := input.Names{Workspace: i.frontend.session.Project.Workspace, Fuzzy: i.opts.Settings.FuzzySearch}
	models := func(context.Context) []string {
		return lists.Map(i.frontend.session.Project.Model.Presets.Choices(), func(c preset.ListedModel) string { return c.Name })
	}
	hooks := func(on bool) func(context.Context) []string {
		return func(context.Context) []string { return i.opts.Hooks().IDs(on) }
	}
	return commands.Completion{Commands: app.Commands, Files: names.Complete, Resources: i.frontend.completeResource,
		Words: map[string]func(context.Context) []string{"model": models, "model set": models,
			"hooks enable": hooks(false), "hooks disable": hooks(true)}}
}
