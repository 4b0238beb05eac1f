package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/docs"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// helpCommand is gemline help.
type helpCommand struct {
	Topic []string `arg:"" optional:"" complete:"topic" help:"A page, or a command of the command line."`
}

// Run prints a page, the help of a command, or the list of both.
func (c *helpCommand) Run(ctx context.Context, out *Output, ask *Asker) error {
	if len(c.Topic) == 0 {
		return out.topics(ctx)
	}
	words := lists.Map(c.Topic, func(word string) string {
		return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(word, "docs/"), ".md"))
	})
	page, ok := docs.Find(words[0])
	if len(words) > 1 || !ok {
		if find(words) != nil && !out.JSON {
			return out.usage(words)
		}
		if page, ok = docs.Find(others[strings.Join(words, " ")]); !ok {
			return ask.noTopic(strings.Join(words, " "))
		}
	}
	if out.JSON {
		return out.document(page)
	}
	return out.page(ctx, text.Printable(docs.Plain(page.Text, out.width())))
}

// others maps other words to pages.
var others = map[string]string{"installation": "install", "uninstall": "install", "remove": "install", "release": "install", "releases": "install",
	"licence": "install", "licences": "install", "license": "install", "licenses": "install", "formatversion": "sessions"}

// topics lists the pages and the commands.
func (out *Output) topics(ctx context.Context) error {
	list := lists.Map(docs.Pages(), func(p docs.Page) docs.Page { p.Text = ""; return p })
	if out.JSON {
		return out.document(map[string]any{"topics": list})
	}
	var b strings.Builder
	b.WriteString("gemline help TOPIC prints a page:\n\n")
	for _, t := range list {
		fmt.Fprintf(&b, "  %-16s  %s\n", t.Name, t.Title)
	}
	fmt.Fprintf(&b, "\nHow gemline is built: %s.\n", strings.Join(pageNames(docs.Internals()), ", "))
	b.WriteString("\ngemline help COMMAND says what a command can do:\n\n")
	for _, l := range Commands() {
		name := strings.TrimPrefix(l.Name, "gemline ")
		fmt.Fprintf(&b, "  %-16s  %s\n", name, l.Help)
	}
	b.WriteString("\ngemline --help lists the flags, /help in a session its commands.\n")
	return out.page(ctx, b.String())
}

// noTopic returns the error for an unknown topic, which names the nearest topic.
func (ask *Asker) noTopic(name string) error {
	pages := pageNames(slices.Concat(docs.Pages(), docs.Internals()))
	name = shorten(name)
	aside := "; gemline -- help " + text.PrintableLine(name) + " would be a prompt"
	if ask.In == nil { // in a session
		aside = ""
	}
	hint := cmp.Or(didYouMean(name, slices.Concat(pages, Names())), "; gemline help lists them")
	return misused("no topic %q%s%s", name, hint, aside)
}

// shorten shortens a text for an error.
func shorten(s string) string { return text.Shorten(s, 40) }

// didYouMean returns the name nearest to a name, as a question.
func didYouMean(name string, names []string) string {
	best := text.Nearest(name, names)
	if best == "" || len(name) > 60 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

func nodeName(n *kong.Node) string { return n.Name }

// find returns the command that words name, nil if there is none.
func find(words []string) *kong.Node {
	at := table()
	for _, word := range words {
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool {
			return !n.Hidden &&
				(n.Name == word || slices.Contains(n.Aliases, word))
		})
		if i < 0 {
			return nil
		}
		at = at.Children[i]
	}
	return at
}
