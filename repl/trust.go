package repl

import (
	"context"

	"gemline/repl/output"
	"gemline/repl/question"
)

// Trust asks whether a folder may bring what it holds. An answer that is no
// choice means [question.NotNow]. Ctrl-C, and the end of the input, are errors:
// nothing is decided, and nothing is begun.
func (c *Console) Trust(ctx context.Context, f question.Folder) (question.Entry, error) {
	c.show(f)
	options := f.Options()
	above := false
	for _, o := range options {
		above = above || o.Answer.Folder == question.TrustParent
	}
	return choose(ctx, c, options, func() { c.explainTrust(above) })
}

// explainTrust says what each choice means, the one for the folder above among
// them if there is one.
func (c *Console) explainTrust(above bool) {
	c.Out.Line(output.Info, "what a folder brings counts only if you trust it: its settings, .env, context files and rules")
	c.Out.Line(output.Info, "1, y or yes = trust this folder and all below it, from now on")
	if above {
		c.Out.Line(output.Info, "2 = trust the folder above it as well, and all in that")
	}
	c.Out.Line(output.Info, "3 = never use what it brings, and don't ask again")
	c.Out.Line(output.Info, "n, no or Enter = don't use it this time, and ask again at the next start; Ctrl-C leaves")
	c.Out.Line(output.Info, "gemline trust remove takes a decision back")
}

// show says what the folder would bring.
func (c *Console) show(f question.Folder) {
	c.Out.Line(output.Permission, "%s", f.Title())
	hidden := output.Hides(f.Path)
	for i, b := range f.Contents {
		style, mark := output.Normal, indent
		if i < len(f.Caution) && f.Caution[i] {
			style, mark = output.Caution, "* "
		}
		c.Out.Item(style, mark+c.titleText(b))
		hidden = hidden || output.Hides(b)
	}
	switch weak := f.Weak(); {
	case len(f.Contents) == 0:
		c.Out.Item(output.Normal, indent+"nothing at the moment")
	case weak == 1:
		c.Out.Line(output.Warning, "the line with a * weakens your protection")
	case weak > 1:
		c.Out.Line(output.Warning, "the %d lines with a * weaken your protection", weak)
	}
	if len(f.Items) > 0 {
		c.Out.Item(output.Normal, "it "+question.Wanted(f.Items)+", in full:")
		hidden = c.wishes(f.Path, f.Items) || hidden
	}
	if hidden {
		c.Out.Line(output.Warning, "control or invisible characters are shown as escapes")
	}
}
