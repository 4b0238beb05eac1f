package repl

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gemline/repl/output"
)

// A Decision is what the user says about a folder.
type Decision int

// The zero Decision is not to trust it this time.
const (
	NotNow Decision = iota
	TrustFolder
	TrustParent
	DoNotTrust
)

// A Folder is one that somebody has to decide about.
type Folder struct {
	Path string
	Home string // the user's home directory

	// Decided is what was decided before, such as "trusted"; empty if nothing
	// was.
	Decided string

	// Brings says line by line what it would bring, in its own words. The
	// lines that Caution is true of weaken the user's protection.
	Brings  []string
	Caution []bool
}

// Trust asks whether a folder may bring what it holds. An answer that is no
// choice means [NotNow]. Ctrl-C, and the end of the input, are errors: nothing
// is decided, and nothing is begun.
func (c *Console) Trust(ctx context.Context, f Folder) (Decision, error) {
	c.show(f)
	parent := filepath.Dir(f.Path)
	question := "1, 2, 3, ? or Enter for not now: "
	c.Out.Line(output.Info, "1 trust %s%s", output.EscapeLine(f.Path), f.wide(f.Path))
	if parent != f.Path {
		c.Out.Line(output.Info, "2 trust %s and all in it%s", output.EscapeLine(parent), f.wide(parent))
	} else {
		question = "1, 3, ? or Enter for not now: "
	}
	c.Out.Line(output.Info, "3 don't trust it, and don't ask again")
	decision := NotNow
	_, err := c.repeat(ctx, question, question, "not now", func(s string) (ok bool, problem string) {
		switch answer := strings.ToLower(strings.TrimSpace(s)); {
		case answer == "1", answer == "y", answer == "yes":
			decision = TrustFolder
		case answer == "2" && parent != f.Path:
			decision = TrustParent
		case answer == "3":
			decision = DoNotTrust
		case answer == "?":
			c.explainTrust(parent != f.Path)
			return false, ""
		case answer != "" && answer != "n" && answer != "no":
			return false, fmt.Sprintf("%.100q is none of the choices; ? says what they mean", s)
		}
		return true, ""
	})
	switch {
	case err == io.EOF:
		return NotNow, fmt.Errorf("%w: %w", context.Canceled, err)
	case err != nil:
		return NotNow, c.unanswered(err, "")
	}
	return decision, nil
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
func (c *Console) show(f Folder) {
	path := output.EscapeLine(f.Path)
	if f.Decided == "" {
		c.Out.Line(output.Permission, "do you trust this folder? %s brings:", path)
	} else {
		c.Out.Line(output.Permission, "do you trust this folder? It is %s so far. %s brings:", f.Decided, path)
	}
	weak, hidden := 0, output.Hides(f.Path)
	for i, b := range f.Brings {
		style, mark := output.Normal, indent
		if i < len(f.Caution) && f.Caution[i] {
			weak++
			style, mark = output.Caution, "* "
		}
		c.Out.Styled(style, mark+c.titleText(b))
		hidden = hidden || output.Hides(b)
	}
	switch {
	case len(f.Brings) == 0:
		c.Out.Styled(output.Normal, indent+"nothing at the moment")
	case weak == 1:
		c.Out.Line(output.Warning, "the line with a * weakens your protection")
	case weak > 1:
		c.Out.Line(output.Warning, "the %d lines with a * weaken your protection", weak)
	}
	if hidden {
		c.Out.Line(output.Warning, "control or invisible characters are shown as escapes")
	}
}

// wide warns of a folder that holds about everything.
func (f Folder) wide(path string) string {
	switch {
	case path == f.Home:
		return ", your home directory"
	case path == filepath.Dir(path):
		return ", which is everything on this machine"
	}
	return ""
}
