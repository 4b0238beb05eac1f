package repl

import (
	"context"

	"gemline/repl/output"
	"gemline/repl/question"
)

// Trust asks whether a folder may bring what it holds. An answer that is no
// choice means [question.NotNow]. Ctrl-C, and the end of the input, are errors:
// nothing is decided, and nothing is begun.
func (c *Console) Trust(ctx context.Context, f question.Folder) (question.TrustAnswer, error) {
	showFolder(c.Out, f)
	options := f.Options()
	above := false
	for _, o := range options {
		above = above || o.Answer.Folder == question.TrustParent
	}
	return choose(ctx, c, options, func() { explainTrust(c.Out, above) })
}

// explainTrust says what each choice means, the one for the folder above among
// them if there is one.
func explainTrust(out *output.Writer, above bool) {
	out.Line(output.Info, "what a folder brings counts only if you trust it: its settings, .env, context files and rules")
	out.Line(output.Info, "1, y or yes = trust this folder and all below it, from now on")
	if above {
		out.Line(output.Info, "2 = trust the folder above it as well, and all in that")
	}
	out.Line(output.Info, "3 = never use what it brings, and don't ask again")
	out.Line(output.Info, "n, no or Enter = don't use it this time, and ask again at the next start; Ctrl-C leaves")
	out.Line(output.Info, "gemline trust remove takes a decision back")
}

// showFolder says what the folder would bring.
func showFolder(out *output.Writer, f question.Folder) {
	out.Line(output.Permission, "%s", f.Title())
	hidden := output.NeedsEscape(f.Path)
	for i, b := range f.Contents {
		style, mark := output.Normal, indent
		if i < len(f.Caution) && f.Caution[i] {
			style, mark = output.Caution, "* "
		}
		out.Item(style, mark+titleText(out, b))
		hidden = hidden || output.NeedsEscape(b)
	}
	switch weak := f.Weak(); {
	case len(f.Contents) == 0:
		out.Item(output.Normal, indent+"nothing at the moment")
	case weak == 1:
		out.Line(output.Warning, "the line with a * weakens your protection")
	case weak > 1:
		out.Line(output.Warning, "the %d lines with a * weaken your protection", weak)
	}
	if len(f.Items) > 0 {
		out.Item(output.Normal, "it "+question.ConsentSummary(f.Items)+", in full:")
		hidden = showItems(out, f.Path, f.Items) || hidden
	}
	if hidden {
		out.Line(output.Warning, "control or invisible characters are shown as escapes")
	}
}
