package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"gemline/engine/text"
	"gemline/settings/extension"
	"gemline/settings/flags"
	"gemline/tools/source"
)

type extensionsUpdate struct {
	Name    string `arg:"" optional:"" complete:"extension" help:"The extension's name."`
	All     bool   `help:"Update all."`
	Check   bool   `help:"Say which have a newer version, and change nothing."`
	Consent bool   `aliases:"yes" help:"Agree to what they can run, and don't ask."`
}

// An updated is what became of an extension.
type updated struct {
	Name  string `json:"name"`
	State string `json:"state"` // up to date, update available, updated, not updatable or error
	Error string `json:"error,omitempty"`
}

// Run updates extensions.
func (c *extensionsUpdate) Run(ctx context.Context, w *World) error {
	list, _ := w.Extensions()
	switch {
	case c.Name != "":
		x, err := w.findExtension(c.Name, false)
		if err != nil {
			return err
		}
		list = []extension.Extension{x}
	case !c.All && !c.Check:
		return &flags.UsageError{Message: "which extension? gemline extensions update NAME, --all or --check"}
	}
	all := []updated{}
	var failed []error
	quiet := *w
	if w.JSON { // one document tells of all
		quiet.JSON, quiet.Out = false, cmp.Or(w.Err, w.Out)
	}
	for _, x := range list {
		state, err := w.newer(ctx, x)
		if err == nil && state == updateAvailable && !c.Check {
			if err = quiet.update(ctx, x, c.Consent); err == nil {
				state = "updated"
			}
		}
		if c.Check && state == updateAvailable && w.touched(x) != nil {
			state += ", which is not done since its files were changed here"
		}
		u := updated{Name: x.Name, State: state}
		if err != nil {
			u.State, u.Error = "error", err.Error()
			what := "is not updated"
			if c.Check {
				what = "can't be checked"
			}
			failed = append(failed, fmt.Errorf("%s %s: %w", x.Name, what, err))
		}
		all = append(all, u)
	}
	if w.JSON {
		return errors.Join(w.document(map[string]any{"extensions": all}), errors.Join(failed...))
	}
	var lines []string
	for _, u := range all {
		switch {
		case u.State == "up to date" && !c.Check:
			lines = append(lines, fmt.Sprintf("Extension %q is already up to date.", u.Name))
		case u.State == "error", u.State == "updated":
		default:
			lines = append(lines, u.Name+": "+u.State)
		}
	}
	if len(all) == 0 {
		lines = []string{"No extensions to update."}
	}
	return errors.Join(w.lines(lines), errors.Join(failed...))
}

const updateAvailable = "update available"

// newer says whether there is a newer version of an extension.
func (w *World) newer(ctx context.Context, x extension.Extension) (string, error) {
	state := func(newer bool) string { return map[bool]string{true: updateAvailable, false: "up to date"}[newer] }
	if x.MigratedTo != "" && x.MigratedTo != x.Install.Source {
		return updateAvailable, nil
	}
	switch x.Install.Type {
	case "local":
		if source.IsArchive(x.Install.Source) {
			return "not updatable", nil
		}
		now, err := extension.Read(x.Install.Source, w.Paths.Cwd)
		return state(now.Version != x.Version), err
	case "git", "github-release":
		h, err := w.hub()
		if err != nil {
			return "", err
		}
		if repository, ok := h.Repository(x.Install.Source); ok && x.Install.Type == "github-release" {
			r, err := h.Release(ctx, repository, x.Install.Ref, x.Install.PreRelease)
			return state(r.Tag != x.Install.ReleaseTag), err
		}
		now, err := h.Commit(ctx, x.Install.Source, x.Install.Ref)
		return state(now != x.Install.Commit && now != ""), err
	}
	return "not updatable", nil
}

// errAsks says that a new version is to be agreed to.
var errAsks = errors.New("it can run something else than the one that is installed")

// UpdateUnasked brings extensions to their newest versions, as far as nobody has to agree to
// what these can run. It notifies of what it has done, and of what the user has to do.
func UpdateUnasked(ctx context.Context, w *World, list []extension.Extension) {
	quiet := *w
	quiet.Out, quiet.JSON, quiet.Browse, quiet.Notify = io.Discard, false, nil, func(string) {}
	quiet.Confirm = func(context.Context, string) (bool, error) { return false, errAsks }
	for _, x := range list {
		state, err := quiet.newer(ctx, x)
		if err == nil && state != updateAvailable {
			continue
		}
		if err == nil {
			err = quiet.update(ctx, x, false)
		}
		switch name := text.EscapeLine(x.Name); {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errAsks):
			w.Notify(fmt.Sprintf("there is a newer version of the extension %s, and %v; gemline extensions update %s asks about it", name, errAsks, name))
		case err != nil:
			w.Notify(fmt.Sprintf("the extension %s is not updated: %v", name, err))
		default:
			w.Notify(fmt.Sprintf("the extension %s was updated; the new version counts from the next start on", name))
		}
	}
}

// touched returns an error if the files of an extension are not those that were installed.
func (w *World) touched(x extension.Extension) error {
	if x.Install.Sum == "" {
		return nil
	}
	sum, err := extension.Sum(x.Home)
	if err == nil && sum != x.Install.Sum {
		err = fmt.Errorf("its files in %s were changed since it was installed; keep what you want of them, then uninstall and install it", text.EscapeLine(x.Home))
	}
	return err
}

// update brings an extension to its newest version, unless somebody has changed its files.
func (w *World) update(ctx context.Context, x extension.Extension, consent bool) error {
	if err := w.touched(x); err != nil {
		return err
	}
	note := x.Install
	note.ReleaseTag, note.Commit = "", ""
	if x.MigratedTo != "" && x.MigratedTo != note.Source {
		moved := note
		moved.Source, moved.Type, moved.Ref = cmp.Or(source.Address(x.MigratedTo), x.MigratedTo), "git", ""
		return w.install(ctx, moved, &x, consent, false)
	}
	return w.install(ctx, note, &x, consent, false)
}
