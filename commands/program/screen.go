package program

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"gemline/commands"
	"gemline/engine"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// screen decides how the terminal is written to and read from.
func (f *front) screen() (*repl.Screen, error) {
	at := f.terminal()
	signs := at.signs()
	mode := output.Decide(signs)
	signs.Flag, signs.FlagOff = "/accessible", true
	best := output.Decide(signs)
	stable := f.flags.PromptFormat == "stable"
	if stable {
		best = output.Mode{Cause: "--prompt-format stable"}
		if !mode.Asked {
			mode = best
		}
	}
	words, err := output.Rename(f.settings.Labels())
	if err != nil {
		f.warnings = append(f.warnings, fmt.Sprintf("ui.labels: %v; all labels keep their names", err))
	}
	out := output.New(f.os.Stdout, output.Options{Color: mode.Color, Marks: mode.Marks, ASCII: f.settings.ASCII, Words: words})
	_, echoed := f.os.Lookup("INSIDE_EMACS")
	config := repl.LinesConfig{In: f.os.Stdin, Out: out, Screen: f.os.Stdout, Smart: mode.Smart, Marks: mode.Marks, Echoed: echoed,
		NoEcho: f.flags.NoEcho, Single: stable || f.settings.PasteLines == "single", Jobs: true, Complete: func(ctx context.Context, line string, at int) (int, []input.Candidate) {
			return f.complete(ctx, line, at)
		}}
	if at.editor() != "" {
		config.Edit = at.edit
	}
	console := &repl.Console{Out: out, Stable: stable, Spoken: mode.Asked}
	if isTerminal(f.os.Stdin) {
		console.Gone = func() bool { return !isTerminal(f.os.Stdin) }
	}
	config.NextMode = func() string { return f.nextMode(console) }
	screen := &repl.Screen{Console: console, Config: config, Mode: mode, Best: best, Lookup: f.os.Lookup}
	screen.Config.History = f.history(func(text string) { screen.Show(func() { f.notify(text) }) })
	return screen, screen.Open()
}

// finishScreen adds what the screen has once the settings are known, and who shows
// what on it.
func (f *front) finishScreen(screen *repl.Screen) {
	screen.Pace, screen.Detail, screen.Vi = f.settings.Stream, f.settings.Detail, f.settings.Vi
	screen.Printer = &repl.Printer{Out: screen.Out, Tally: f.count, Kind: func(name string) engine.Kind { return engine.KindOf(f.tools, name) }, Thoughts: f.settings.Thinking == "full",
		Heard: func() time.Time { return time.Unix(0, f.heard.Load()) }}
	if f.settings.Layout != "plain" {
		screen.Columns = f.terminal().width
	}
	screen.Begin()
	f.typed = f.shellStep(screen)
	if !f.settings.Notifications && f.settings.NotifyCommand == "" {
		return
	}
	n := &repl.Notifier{Method: f.settings.NotifyMethod, Environ: shell.Environment(f.os.Environ(), f.shell), Terminal: screen.Out.Terminal(), Smart: screen.Mode.Smart,
		Lookup: f.os.Lookup, Dir: f.paths.Cwd, ID: func() string { return f.journal.ID() }, Warn: func(text string) { f.notify(text) }}
	if command := f.settings.NotifyCommand; command != "" {
		n.Command = []string{"sh", "-c", command}
		if runtime.GOOS == "windows" {
			n.Command = []string{"cmd", "/c", command}
		}
	}
	screen.Notifier = n
}

// screenCommands returns what the slash commands may do to a screen.
func screenCommands(s *repl.Screen) *commands.Screen {
	return &commands.Screen{
		Accessible: s.SetAccessible, Stream: s.SetPace, Detail: s.SetDetail, Vi: s.SetVi,
		Asked:  func(text string) { s.Out.Line(output.You, "%s", output.EscapeLine(text)) },
		Answer: s.Printer.Answer, Entered: s.Entered,
		Kept: func() (kept []commands.Output) {
			for _, o := range s.Printer.Kept() {
				kept = append(kept, commands.Output(o))
			}
			return kept
		},
	}
}

// shellMode reports whether every line is a command.
func (f *front) shellMode() bool { return f.typed.Mode() }

// history is what was typed before, prompts and commands each in its file.
func (f *front) history(warn func(string)) repl.InputHistory {
	file := func(name string) repl.HistoryConfig {
		c := repl.HistoryConfig{Secrets: f.secrets, Session: func() string { return f.journal.ID() }, Now: time.Now, Warn: warn}
		if f.store.Temp != "" {
			c.Path = filepath.Join(f.store.Temp, name)
		}
		return c
	}
	return repl.Histories(repl.PromptHistory(file("logs.json")), repl.CommandHistory(file("shell_history")), f.shellMode)
}

// completion says what the Tab key may make of a line.
func (f *front) completion(app *commands.App) commands.Completion {
	names := input.Names{Workspace: f.workspace, Fuzzy: f.settings.FuzzySearch}
	models := func(context.Context) (names []string) {
		for _, c := range f.reach.Choices() {
			names = append(names, c.Name)
		}
		return names
	}
	return commands.Completion{Commands: func() commands.Set { return app.Commands }, App: app, Files: names.Complete,
		Words: map[string]func(context.Context) []string{"model": models, "model set": models}}
}
