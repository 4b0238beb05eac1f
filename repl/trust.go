package repl

import (
	"context"

	"gemline/repl/output"
	"gemline/repl/question"
)

// Trust asks whether a folder is trusted. An answer that is no choice means [question.NotNow].
// Ctrl-C and the end of the input are errors: nothing is decided or started.
func (c *Console) Trust(ctx context.Context, f question.Folder) (question.TrustAnswer, error) {
	showFolder(c.Out, f)
	options := f.Options()
	return choose(ctx, c, options, func() { explainTrust(c.Out, options) })
}

// trustMeanings explain the choices of [question.Folder.Options], by name.
var trustMeanings = map[string]string{
	"trust":            "1, y or yes = trust this folder and all below it, from now on",
	"trust_parent":     "2 = trust the folder above it as well, and all in that",
	"never":            "3 = never use the folder's files, and don't ask again",
	"trust_unconfined": "4 = as 1, but its commands may read, change and send all that you can",
	"trust_only":       "5 = as 1, but its commands do not run, and you are not asked about them until they change",
	"not_now":          "n, no or Enter = don't use it this time, and ask again at the next start; Ctrl-C leaves",
}

// explainTrust prints the meaning of each choice.
func explainTrust(out *output.Writer, options []question.Option[question.TrustAnswer]) {
	out.Line(output.Info, "what a folder brings counts only if you trust it: its settings, .env, context files and rules")
	for _, o := range options {
		out.Line(output.Info, "%s", trustMeanings[o.Name])
	}
	out.Line(output.Info, "gemline trust remove takes a decision back")
}

// showFolder prints the folder's configuration.
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
