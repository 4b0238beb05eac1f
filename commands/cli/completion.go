package cli

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"gemline/docs"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/hook"
	"gemline/engine/lists"
	"gemline/engine/model/preset"
	"gemline/engine/text"
	"gemline/repl/schema"
	"gemline/settings"
	"gemline/tools/sandbox"
	"gemline/tools/worktree"
)

//go:embed shells
var shells embed.FS

// completionCommand is gemline completion. The scripts call gemline completion words -- WORD ... to
// get completions of the last word, which is before the cursor.
type completionCommand struct {
	Shell string   `arg:"" complete:"shell" help:"bash, zsh, fish or powershell."`
	Words []string `arg:"" optional:"" hidden:"" help:"For the scripts."`
}

// A lookup returns completions of words other than commands and flags.
type lookup struct {
	here     *Folder
	project  Project
	builtin  Builtin
	families families
}

// ProvideLookup returns the lookup.
func (*completionCommand) ProvideLookup(here *Folder, project Project, builtin Builtin, families families) *lookup {
	return &lookup{here, project, builtin, families}
}

// Run prints the script for a shell, or answers a call of the script.
func (c *completionCommand) Run(ctx context.Context, out *Output, all *lookup) error {
	if c.Shell == "words" {
		return out.answer(ctx, all, c.Words)
	}
	text, err := shells.ReadFile("shells/" + c.Shell)
	if err != nil || len(c.Words) > 0 {
		name := strings.Join(append([]string{c.Shell}, c.Words...), " ")
		return misused("no completion for the shell %q; "+
			"there are bash, zsh, fish and powershell", shorten(name))
	}
	_, err = out.Out.Write(text)
	return err
}

// answer prints completions of the last word: in the first line files, dirs or words, and in each
// other line a word, a tab and its description.
func (out *Output) answer(ctx context.Context, all *lookup, words []string) error {
	var b strings.Builder
	c := completer{func(kind string) []candidate { return all.values(ctx, kind) }}
	kind, list := c.complete(words)
	b.WriteString(kind + "\n")
	for _, x := range list {
		fmt.Fprintf(&b, "%s\t%s\n", text.PrintableLine(x.word), text.PrintableLine(x.note))
	}
	_, err := io.WriteString(out.Out, b.String())
	return err
}

// values returns all values of a kind. It contacts no server, and skips unreadable files.
func (l *lookup) values(ctx context.Context, kind string) (list []candidate) {
	add := func(word, note string) { list = append(list, candidate{word, note}) }
	plain := func(names ...string) { // names without a note
		for _, name := range names {
			add(name, "")
		}
	}
	switch kind {
	case "shell":
		plain("bash", "zsh", "fish", "powershell")
	case "method":
		plain(lists.Map(auth.Methods(), func(m auth.Method) string { return string(m) })...)
	case "sandbox":
		plain(append([]string{settings.On, settings.Off}, sandbox.Names()...)...)
	case "model":
		return lists.Map((*preset.Table)(nil).Choices(), func(c preset.ListedModel) candidate { return candidate{c.Name, c.Note} })
	case "topic":
		for _, p := range docs.Pages() {
			add(p.Name, p.Title)
		}
		for _, l := range Commands() {
			word := strings.TrimPrefix(l.Name, "gemline ")
			if _, paged := docs.Find(word); !paged {
				add(word, l.Help)
			}
		}
	case "tool":
		return lists.Map(l.builtin(), func(t engine.Tool) candidate { return candidate{t.Name(), t.Label} })
	case "key":
		return lists.Map(settings.Keys(), func(k settings.Key) candidate { return candidate{k.Name, k.Help} })
	case "event":
		plain(lists.Map(hook.Events, func(e hook.Event) string { return string(e) })...)
	case "schema":
		plain(append(schema.Names(), settingsSchema)...)
	case "worktree":
		if r, err := (*worktreeCommand)(nil).ProvideRepository(l.here, l.project); err == nil {
			trees, _ := r.Trees()
			list = lists.Map(trees, func(t worktree.Tree) candidate { return candidate{t.Name, t.Path} })
		}
	case "session":
		add("latest", "the one begun last")
		sessions, _, _ := l.here.sessions()
		for _, s := range slices.Backward(sessions) {
			add(s.ID, s.Title)
			if s.Name != "" {
				add(s.Name, s.ID)
			}
		}
	default:
		if members := l.families[kind]; members != nil {
			list = members(ctx)
		}
	}
	return list
}
