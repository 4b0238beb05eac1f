package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/docs"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/flags"
)

// manCommand is gemline man.
type manCommand struct{}

// Run prints the manual page, in the man macros of roff.
func (*manCommand) Run(out *Output, build Build) error {
	var m manual
	m.page(build)
	_, err := io.WriteString(out.Out, m.String())
	return err
}

// A manual is a manual page under construction.
type manual struct{ strings.Builder }

// page writes the whole page.
func (m *manual) page(b Build) {
	date, _, _ := strings.Cut(b.Date, "T")
	fmt.Fprintf(m, ".TH GEMLINE 1 \"%s\" \"gemline %s\" gemline\n", date, roff(b.Version)) // plain hyphens in the date
	m.section("Name")
	m.text("gemline - a coding agent for plain terminals")
	m.section("Synopsis")
	m.macro("B", "gemline")
	m.text("[flags] [prompt ...]")
	m.WriteString(".br\n")
	m.macro("B", "gemline")
	m.text("command [arguments]")
	m.section("Description")
	m.text("gemline talks to a Gemini model, reads and edits your project, runs commands when you say so, and prints lines. " +
		"On a terminal it is a session; with a prompt by -p, in a pipeline or with a JSON format it is one answer.")
	m.section("Examples")
	for _, e := range flags.Examples() {
		m.tagged(e.Name, strings.ToUpper(e.Help[:1])+e.Help[1:]+".")
	}
	m.section("Commands")
	for _, n := range table().Children {
		m.command("gemline", n)
	}
	m.section("Options")
	m.options()
	m.section("Exit status")
	m.rows("exit-codes")
	m.section("Environment")
	m.rows("environment")
	m.section("Files")
	for _, f := range []flags.Line{
		{Name: "~/.gemini/settings.json", Help: "Your settings. A project has its own in .gemini/settings.json; gemline config path names all."},
		{Name: "~/.gemini/GEMINI.md", Help: "What the model always reads."},
		{Name: "~/.gemini/trustedFolders.json", Help: "Which folders are trusted."},
		{Name: "~/.gemini/tmp/PROJECT/chats", Help: "The sessions of a directory."},
	} {
		m.tagged(f.Name, f.Help)
	}
	m.section("See also")
	m.text("gemline help prints the documentation: " + strings.Join(pageNames(docs.Pages()), ", ") + ".")
}

func pageNames(pages []docs.Page) []string {
	return lists.Map(pages, func(p docs.Page) string { return p.Name })
}

// command describes a command, or the commands below it.
func (m *manual) command(prefix string, n *kong.Node) {
	name := prefix + " " + n.Name
	if len(n.Children) > 0 {
		for _, sub := range n.Children {
			m.command(name, sub)
		}
		return
	}
	for _, p := range n.Positional {
		if word := synopsis(p); word != "" {
			name += " " + word
		}
	}
	help := n.Help
	for _, f := range flags.Describe(n.Flags) {
		help += " " + f.Spelling() + ": " + f.Help
	}
	m.tagged(name, help)
}

// options writes the flags, by their groups.
func (m *manual) options() {
	group := ""
	for _, f := range flags.Table() {
		if f.Group != group {
			group = f.Group
			m.macro("SS", group)
		}
		m.tagged(f.Spelling(), f.Help)
	}
}

// rows writes the tables of a documentation page.
func (m *manual) rows(name string) {
	page, ok := docs.Find(name)
	if !ok {
		panic("no page " + name) // a mistake in this package
	}
	tables := slices.DeleteFunc(docs.Blocks(page.Text),
		func(b docs.Block) bool { return b.Kind != docs.Table && b.Kind != docs.Heading })
	for _, b := range tables {
		if b.Kind == docs.Heading {
			m.macro("SS", b.Lines[0])
			continue
		}
		for _, row := range b.Rows[1:] {
			m.tagged(row[0], strings.Join(row[1:], " "))
		}
	}
}

func (m *manual) section(name string) { m.macro("SH", strings.ToUpper(name)) }

// macro writes a macro call with its arguments.
func (m *manual) macro(name string, args ...string) {
	m.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(m, ` "%s"`, strings.ReplaceAll(roff(a), `"`, `\(dq`))
	}
	m.WriteByte('\n')
}

// tagged writes a term and its meaning.
func (m *manual) tagged(term, text string) {
	m.WriteString(".TP\n")
	m.macro("B", term)
	m.text(text)
}

// text writes a text in short lines. It escapes lines that roff would read as a request.
func (m *manual) text(s string) {
	for _, line := range flags.Wrap(roff(s), 78) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		m.WriteString(line + "\n")
	}
}

// roff escapes text for roff. Hyphens stay ASCII, so that text copied from the page works in a
// shell.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~",
		`\(ti`).Replace(text.PrintableLine(s))
}
