package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gemline/engine/text"
	"gemline/settings/extension"
	"gemline/tools/source"
)

type extensionsUpdate struct {
	Name    string `arg:"" optional:"" complete:"extension" help:"The extension's name."`
	All     bool   `help:"Update all."`
	Check   bool   `help:"Say which have a newer version, and change nothing."`
	Consent bool   `aliases:"yes" help:"Agree to their commands, and don't ask."`
	Unasked bool   `hidden:"" help:"Update the extensions with automatic updates, as a session does."`
}

// An updated is the result of an update.
type updated struct {
	Name  string `json:"name"`
	State string `json:"state"` // up to date, update available, updated, not updatable or error
	Error string `json:"error,omitempty"`
	Why   string `json:"why,omitempty"` // why it is not updatable

	checked bool // the update was only checked, not installed
}

// lines returns the result, unless the update has printed it.
func (u updated) lines() []string {
	switch {
	case u.State == "error", u.State == "updated":
		return nil
	case u.State == "up to date" && !u.checked:
		return []string{fmt.Sprintf("Extension %q is already up to date.", u.Name)}
	}
	return []string{strings.TrimSuffix(u.Name+": "+u.State+": "+u.Why, ": ")}
}

// Run updates extensions.
func (c *extensionsUpdate) Run(ctx context.Context, set *extensionSet) error {
	switch {
	case c.Unasked:
		return set.updateUnasked(ctx)
	case c.Name == "" && !c.All && !c.Check:
		return misused("which extension? gemline extensions update NAME, --all or --check")
	}
	list, err := set.named(c.Name)
	if err != nil {
		return err
	}
	var all []updated
	var failed []error
	each := *set
	if set.out.JSON { // one document holds all results
		lines := *set.out
		lines.JSON, lines.Out = false, cmp.Or(set.out.Err, set.out.Out)
		each.out = &lines
	}
	for _, x := range list {
		state, note, err := set.newer(ctx, x)
		if err == nil && state == updateAvailable && !c.Check {
			if err = each.update(ctx, x, note, c.Consent); err == nil {
				state = "updated"
			}
		}
		if c.Check && state == updateAvailable && set.touched(x) != nil {
			state += ", which is not done since its files were changed here"
		}
		u := updated{Name: x.Name, State: state, checked: c.Check}
		switch {
		case state != notUpdatable:
		case x.Linked:
			u.Why = "it is a link to a folder, whose files are used as they are"
		case x.Install.Source == "":
			u.Why = "nothing says where it came from"
		default:
			u.Why = "uninstall it, and install it from a newer archive"
		}
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
	l := listingOf("extensions", all)
	if len(all) == 0 {
		l.lines = []string{"No extensions to update."}
	}
	return errors.Join(set.out.show(l.doc, l.lines...), errors.Join(failed...))
}

const (
	updateAvailable = "update available"
	notUpdatable    = "not updatable" // a link, from an archive, or put there by hand
)

// newer reports whether an extension has a newer version, and its source.
func (set *extensionSet) newer(ctx context.Context, x extension.Extension) (state string, note extension.Install, err error) {
	newer := func(is bool, err error) (string, extension.Install, error) {
		return map[bool]string{true: updateAvailable, false: "up to date"}[is], note, err
	}
	note = x.Install
	note.ReleaseTag, note.Commit, note.Told = "", "", ""
	h, err := set.hub()
	if err != nil {
		return "", note, err
	}
	if to := cmp.Or(source.RepositoryAddress(x.MigratedTo), x.MigratedTo); to != "" && to != note.Source && !x.Linked {
		if err := h.Reach(ctx, to, note.PreRelease); err == nil {
			note.Source, note.Type, note.Ref = to, "git", ""
			return newer(true, nil)
		} else {
			set.out.Notify(fmt.Sprintf("%s says that it has moved, but can't be had there: %v", x.Name, err))
		}
	}
	switch note.Type {
	case "local":
		if source.IsArchive(note.Source) {
			break
		}
		now, err := extension.Read(note.Source, set.here.Paths.Cwd)
		return newer(now.Version != x.Version, err)
	case "github-release":
		if repository, ok := h.Repository(note.Source); ok {
			r, err := h.Release(ctx, repository, note.Ref, note.PreRelease)
			return newer(r.Tag != x.Install.ReleaseTag, err)
		}
		fallthrough
	case "git":
		now, err := h.Commit(ctx, note.Source, note.Ref)
		return newer(now != x.Install.Commit && now != "", err)
	}
	return notUpdatable, note, nil
}

// errAsks says that a new version needs consent.
var errAsks = errors.New("can run something else than the one that is installed")

// updateUnasked installs automatic updates, except versions that need new consent. It notifies the
// user of updates, and once of each update that waits for consent.
func (set *extensionSet) updateUnasked(ctx context.Context) error {
	quiet := *set
	quiet.out = &Output{Out: io.Discard, Notify: func(string) {}}
	quiet.ask = &Asker{Confirm: func(context.Context, string) (bool, error) { return false, errAsks }}
	list, _ := set.installed()
	for _, x := range list {
		if !x.Active || !x.Install.AutoUpdate {
			continue
		}
		state, note, err := quiet.newer(ctx, x)
		if err == nil && state == updateAvailable {
			err = quiet.update(ctx, x, note, false)
		}
		told := ""
		switch name := text.PrintableLine(x.Name); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			told = fmt.Sprintf("the extension %s is not updated: %v", name, err)
			if errors.Is(err, errAsks) {
				told += fmt.Sprintf("; gemline extensions update %s asks about it", name)
			}
		case state == updateAvailable:
			set.out.Notify(fmt.Sprintf("the extension %s was updated; the new version counts from the next start on", name))
			continue
		}
		if told != x.Install.Told {
			x.Install.Told = told
			extension.WriteInstall(x.Home, x.Install) // otherwise the next start notifies again
			if told != "" {
				set.out.Notify(told)
			}
		}
	}
	return nil
}

// touched returns an error if the files of an extension were changed after its installation.
func (set *extensionSet) touched(x extension.Extension) error {
	changed, _, err := extension.Modified(x.Home)
	if err == nil && changed {
		err = fmt.Errorf("its files in %s were changed since it was installed; save the changes that you want, then uninstall and install it", text.PrintableLine(x.Home))
	}
	return err
}

// update installs the version of an extension that note names, unless somebody has changed the
// extension's files.
func (set *extensionSet) update(ctx context.Context, x extension.Extension, note extension.Install, consent bool) error {
	if err := set.touched(x); err != nil {
		return err
	}
	return set.install(ctx, note, &x, consent, false)
}
