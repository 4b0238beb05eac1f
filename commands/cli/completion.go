package cli

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"gemline/docs"
	"gemline/engine/auth"
	"gemline/engine/hook"
	"gemline/engine/model/preset"
	"gemline/engine/text"
	"gemline/repl/schema"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/tools/sandbox"
)

//go:embed shells
var shells embed.FS

// completionCommand is gemline completion. The scripts ask for what a word may
// become by gemline completion words -- WORD ..., where the last word is the
// one in front of the cursor.
type completionCommand struct {
	Shell string   `arg:"" complete:"shell" help:"bash, zsh, fish or powershell."`
	Words []string `arg:"" optional:"" hidden:"" help:"For the scripts."`
}

// Run prints the script of a shell, or answers one.
func (c *completionCommand) Run(ctx context.Context, w *World) error {
	if c.Shell == "words" {
		return w.answer(ctx, c.Words)
	}
	text, err := shells.ReadFile("shells/" + c.Shell)
	if err != nil || len(c.Words) > 0 {
		name := strings.Join(append([]string{c.Shell}, c.Words...), " ")
		return &flags.UsageError{Message: fmt.Sprintf("no completion for the shell %q; "+
			"there are bash, zsh, fish and powershell", shorten(name))}
	}
	_, err = w.Out.Write(text)
	return err
}

// answer prints what the last of words may become: in the first line files,
// dirs or words, and in each other line a word, a tab and what it is.
func (w *World) answer(ctx context.Context, words []string) error {
	var b strings.Builder
	c := completer{flags: flags.Table(), commands: table(),
		values: func(kind string) []candidate { return w.values(ctx, kind) }}
	kind, list := c.complete(words)
	b.WriteString(kind + "\n")
	for _, x := range list {
		fmt.Fprintf(&b, "%s\t%s\n", text.EscapeLine(x.word), text.EscapeLine(x.note))
	}
	_, err := io.WriteString(w.Out, b.String())
	return err
}

// values returns what there is of a kind. It asks nobody, and what can't be
// read is nothing.
func (w *World) values(ctx context.Context, kind string) (list []candidate) {
	add := func(word, note string) { list = append(list, candidate{word, note}) }
	plain := func(names ...string) { // of which there is nothing to say
		for _, name := range names {
			add(name, "")
		}
	}
	switch kind {
	case "shell":
		plain("bash", "zsh", "fish", "powershell")
	case "method":
		for _, m := range auth.Methods() {
			plain(string(m))
		}
	case "sandbox":
		plain(append([]string{settings.On, settings.Off}, sandbox.Names()...)...)
	case "model":
		for _, c := range (*preset.Table)(nil).Choices() {
			add(c.Name, c.Note)
		}
	case "topic":
		for _, p := range docs.Pages() {
			add(p.Name, p.Title)
		}
		for _, l := range Commands() {
			add(strings.TrimPrefix(l.Name, "gemline "), l.Help)
		}
	case "tool":
		for _, t := range w.Builtin() {
			add(t.Name(), t.Label)
		}
	case "key":
		for _, k := range settings.Keys() {
			add(k.Name, k.Help)
		}
	case "hook":
		hooks, _ := w.Hooks.List()
		for _, h := range hooks {
			add(h.ID(), string(h.Event))
		}
	case "extension":
		list, _ := w.Extensions()
		for _, x := range list {
			add(x.Name, x.About)
		}
	case "skill":
		for _, s := range w.Skills.All() {
			add(s.Name, s.Description)
		}
	case "agent":
		agents, _ := w.Agents.List()
		for _, d := range agents {
			add(d.Name, d.Description)
		}
	case "server":
		servers, _ := w.Servers.Status(ctx, 0)
		for _, s := range servers {
			add(s.Name, s.Description)
		}
	case "event":
		for _, e := range hook.Events {
			plain(string(e))
		}
	case "schema":
		plain(append(schema.Names(), settingsSchema)...)
	case "worktree":
		_, trees, _ := w.worktrees()
		for _, t := range trees {
			add(t.Name, t.Path)
		}
	case "session":
		add("latest", "the one begun last")
		w.sessionNames(add)
	}
	return list
}

// sessionNames adds what the sessions of the directory go by, the newest first.
func (w *World) sessionNames(add func(word, note string)) {
	sessions, _, _ := w.sessions()
	for _, s := range slices.Backward(sessions) {
		add(s.ID, s.Title)
		if s.Name != "" {
			add(s.Name, s.ID)
		}
	}
}
