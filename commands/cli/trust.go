package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/consent"
	"gemline/settings/trust"
)

// trustCommand is gemline trust.
type trustCommand struct {
	Status trustStatus `cmd:"" help:"Say whether a folder is trusted, why, and which files it brings." slash:"status" rest:""`
	List   trustList   `cmd:"" help:"List the folders that were decided about." slash:"list"`
	Add    trustAdd    `cmd:"" help:"Trust a folder and all below it." slash:"add" rest:""`
	Deny   trustDeny   `cmd:"" help:"Don't trust a folder, and don't ask about it." slash:"deny" rest:""`
	Remove trustRemove `cmd:"" help:"Take back the decisions about a folder and its commands." slash:"remove" rest:""`
}

type trustList struct{}

// Run prints the decisions, in the order of the file.
func (*trustList) Run(out *Output, here *Folder) error {
	rules, err := trust.Folders(here.Paths, here.Lookup).Decisions()
	if err != nil {
		return err
	}
	lines := lists.Map(rules, func(d trust.Decision) string { return fmt.Sprintf("%-12s  %s", d.Rule, d.Path) })
	return out.listing(map[string]any{"file": trust.Folders(here.Paths, here.Lookup).Path, "folders": rules}, lines,
		"nothing was decided about any folder")
}

type trustAdd struct {
	trustFolder
	Parent bool `help:"Trust the folder above it, and all in that."`
}

// Run stores the decision.
func (c *trustAdd) Run(ctx context.Context, out *Output, here *Folder) error {
	folder := here.Paths.Folder(c.Folder)
	if info, err := os.Stat(folder); err != nil {
		return fmt.Errorf("%s is not there", folder)
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", folder)
	}
	d := trust.Decision{Path: folder, Rule: trust.Folder}
	if c.Parent {
		d.Rule = trust.Parent
	}
	if about := d.About(); about == here.Paths.Folder("/") || here.Paths.Home != "" && about == here.Paths.Folder(here.Paths.Home) {
		out.Notify(about + " holds about everything you have, and all of it is trusted now")
	}
	return decide(ctx, here, out, d)
}

type (
	trustFolder struct {
		Folder string `arg:"" optional:"" complete:"dirs" help:"The folder; this one if none is named."`
	}
	trustDeny   struct{ trustFolder }
	trustRemove struct{ trustFolder }
	trustStatus struct{ trustFolder }
)

// Run stores the decision.
func (c *trustDeny) Run(ctx context.Context, out *Output, here *Folder) error {
	return decide(ctx, here, out, trust.Decision{Path: here.Paths.Folder(c.Folder), Rule: trust.Deny})
}

// decide stores a decision in the list.
func decide(ctx context.Context, here *Folder, out *Output, d trust.Decision) error {
	rules, err := trust.Folders(here.Paths, here.Lookup).Decisions()
	if err != nil {
		return err
	}
	wider := trust.Decision{Path: d.Path, Rule: trust.Parent}
	if d.Rule == trust.Folder && slices.Contains(rules, wider) {
		return decided(here, out, d.Path, "already trusted, as all in "+wider.About())
	}
	was, err := trust.Folders(here.Paths, here.Lookup).Remember(ctx, d.Path, d.Rule)
	if err != nil {
		return err
	}
	said := "trusted"
	switch {
	case slices.Equal(was, []trust.Decision{d}):
		said = "as before: " + string(d.Rule)
	case d.Rule == trust.Parent:
		said = "trusted: " + d.About() + " and all in it"
	case d.Rule == trust.Deny:
		said = "not trusted"
	}
	for _, old := range was {
		if old.Rule != d.Rule {
			said += fmt.Sprintf(" (was %s)", old.Rule)
		}
	}
	return decided(here, out, d.Path, said)
}

// Run removes the decision from the list, and the consents for the folder from the record.
func (c *trustRemove) Run(ctx context.Context, out *Output, here *Folder) error {
	folder := here.Paths.Folder(c.Folder)
	was, err := trust.Folders(here.Paths, here.Lookup).Remember(ctx, folder, "")
	if err != nil {
		return err
	}
	had, err := consent.RecordOf(here.Paths).Forget(ctx, folder)
	if err != nil {
		return err
	}
	said := "nothing was decided about it by name"
	if len(was) > 0 {
		said = "removed: " + string(was[0].Rule)
	}
	if slices.Contains(had, folder) {
		said += "; its commands are asked about again"
	}
	if below := without(had, []string{folder}); len(below) > 0 {
		said += "; commands are asked about again in " + text.PrintableLine(strings.Join(below, ", "))
	}
	return decided(here, out, folder, said)
}

// decided prints the decision about a folder, and the folder's present trust.
func decided(here *Folder, out *Output, folder, said string) error {
	t, err := here.trust(folder)
	if err != nil {
		return err
	}
	lines := []string{folder + ": " + said}
	if t.Why != "" {
		lines = append(lines, fmt.Sprintf("it is %s by %s", t.State, t.Why))
	}
	return out.show(struct {
		Folder string `json:"folder"`
		Done   string `json:"done"`
		State  string `json:"state"`
		By     string `json:"by,omitempty"`
	}{folder, said, t.State.String(), t.Why}, lines...)
}

// Run prints the trust of a folder, and the folder's configuration.
func (c *trustStatus) Run(out *Output, here *Folder) error {
	t, err := here.trust(here.Paths.Folder(c.Folder))
	if err != nil {
		return err
	}
	status := struct {
		Folder string          `json:"folder"`
		State  string          `json:"state"`
		By     string          `json:"by,omitempty"`
		Rule   *trust.Decision `json:"rule,omitempty"`
		File   string          `json:"file"`
		Brings []trust.Item    `json:"brings"`
	}{t.Folder, t.State.String(), t.Why, nil, trust.Folders(here.Paths,
		here.Lookup).Path, append([]trust.Item{}, t.Contents...)}
	if t.Rule.Rule != "" {
		status.Rule = &t.Rule
	}
	by := ""
	if t.Why != "" {
		by = ", by " + t.Why
	}
	said := t.State.String()
	if t.State == trust.Unknown {
		said = "not trusted, since nobody has decided about it"
	}
	lines := []string{fmt.Sprintf("%s: %s%s", t.Folder, said, by)}
	brings, caution := trust.Summary(t.Contents)
	for i, l := range brings {
		mark := "  "
		if caution[i] {
			mark = "* " // the setting weakens the user's protection
		}
		lines = append(lines, mark+l)
	}
	if len(brings) == 0 {
		lines = append(lines, "nothing in it needs trust")
	}
	return out.show(status, lines...)
}
