package program

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/term"

	"gemline/commands"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// screen decides how the terminal is written to and read from.
func (s *session) screen() (*repl.Screen, error) {
	signs := s.signs()
	mode := output.Decide(signs)
	signs.Flag, signs.FlagOff = "/accessible", true
	best := output.Decide(signs)
	stable := s.flags.PromptFormat == "stable"
	if stable {
		best = output.Mode{Cause: "--prompt-format stable"}
		if !mode.Asked {
			mode = best
		}
	}
	words, err := output.Rename(s.settings.Labels())
	if err != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("ui.labels: %v; all labels keep their names", err))
	}
	out := output.New(s.os.Stdout, output.Options{Color: mode.Color, Marks: mode.Marks, ASCII: s.settings.ASCII, Words: words})
	_, echoed := s.os.Lookup("INSIDE_EMACS")
	config := repl.LinesConfig{In: s.os.Stdin, Out: out, Screen: s.os.Stdout, Smart: mode.Smart, Marks: mode.Marks, Echoed: echoed,
		NoEcho: s.flags.NoEcho, Single: stable || s.settings.PasteLines == "single", Jobs: true, Complete: s.complete}
	if s.editor() != "" {
		config.Edit = s.edit
	}
	console := &repl.Console{Out: out, Stable: stable, Spoken: mode.Asked, Gone: func() bool { return !isTerminal(s.os.Stdin) }}
	config.History = s.history(func(text string) { console.Lines.Show(func() { s.notify(text) }) })
	config.NextMode = func() string { return s.nextMode(console) }
	console.Lines, err = repl.NewLines(config)
	return &repl.Screen{Console: console, Config: config, Mode: mode, Best: best, Lookup: s.os.Lookup}, err
}

// signs are what the mode of a terminal depends on.
func (s *session) signs() output.Signs {
	flag, off := s.flags.PlainFlag()
	return output.Signs{Flag: flag, FlagOff: off, Setting: &s.settings.ScreenReader, Terminal: true, Lookup: s.os.Lookup}
}

// furnish adds what the screen has once the settings are known, and who shows
// what on it.
func (s *session) furnish(screen *repl.Screen) {
	screen.Pace, screen.Detail, screen.Vi = s.settings.Stream, s.settings.Detail, s.settings.Vi
	screen.Printer = &repl.Printer{Out: screen.Out, Tally: s.count, Kind: s.tools.Kind, Thoughts: s.settings.Thinking == "full",
		Heard: func() time.Time { return time.Unix(0, s.heard.Load()) }}
	if s.settings.Layout != "plain" {
		screen.Columns = s.width
	}
	screen.Begin()
	s.typed = s.shellStep(screen)
	if !s.settings.Notifications && s.settings.NotifyCommand == "" {
		return
	}
	n := &repl.Notifier{Method: s.settings.NotifyMethod, Environ: shell.Environment(s.os.Environ(), s.shell), Terminal: screen.Out.Terminal(), Smart: screen.Mode.Smart,
		Lookup: s.os.Lookup, Dir: s.paths.Cwd, ID: func() string { return s.journal.ID() }, Warn: func(text string) { s.notify(text) }}
	if command := s.settings.NotifyCommand; command != "" {
		n.Command = []string{"sh", "-c", command}
		if runtime.GOOS == "windows" {
			n.Command = []string{"cmd", "/c", command}
		}
	}
	screen.Notifier = n
}

// width returns how wide the terminal is now, 0 if it does not say.
func (s *session) width() int {
	columns, _, _ := term.GetSize(int(s.os.Stdout.Fd()))
	return columns
}

// edit lets the user change text in an editor.
func (s *session) edit(ctx context.Context, name, text string) (string, error) {
	return repl.Editor(s.editor(), shell.Own(s.os.Environ()), s.os.Stdin, s.os.Stdout, s.os.Stderr)(ctx, name, text)
}

// editor returns the command of the user's editor.
func (s *session) editor() string {
	return cmp.Or(repl.EditorCommand(s.settings.Editor, s.settings.NewWindow, installed), s.os.getenv("VISUAL"), s.os.getenv("EDITOR"), repl.UsualEditor(installed))
}

// shellMode reports whether every line is a command.
func (s *session) shellMode() bool { return s.typed != nil && s.typed.Mode() }

// history is what was typed before, prompts and commands each in its file.
func (s *session) history(warn func(string)) repl.InputHistory {
	file := func(name string) repl.HistoryConfig {
		c := repl.HistoryConfig{Secrets: s.secrets, Session: func() string { return s.journal.ID() }, Now: time.Now, Warn: warn}
		if s.project.Temp != "" {
			c.Path = filepath.Join(s.project.Temp, name)
		}
		return c
	}
	return repl.Histories(repl.PromptHistory(file("logs.json")), repl.CommandHistory(file("shell_history")), s.shellMode)
}

// complete says what the Tab key may make of a line.
func (s *session) complete(ctx context.Context, line string, at int) (int, []repl.Candidate) {
	if s.app == nil {
		return at, nil
	}
	names := input.Names{Workspace: s.workspace, Fuzzy: s.settings.FuzzySearch}
	models := func(context.Context) (names []string) {
		for _, c := range s.reach.Choices() {
			names = append(names, c.Name)
		}
		return names
	}
	c := repl.Completion{Commands: func() commands.Set { return s.app.Commands }, App: s.app, Files: names.Complete,
		Words: map[string]func(context.Context) []string{"model": models, "model set": models}}
	return c.Complete(ctx, line, at)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func installed(program string) bool { _, err := exec.LookPath(program); return err == nil }
