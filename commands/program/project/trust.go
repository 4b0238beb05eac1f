package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"gemline/engine/lists"
	"gemline/repl/question"
	"gemline/repl/talk"
	"gemline/settings/project"
	"gemline/settings/trust"
)

// A Consenter decides what a folder may configure and run: the user at the terminal, or a program.
type Consenter interface {
	Trust(context.Context, question.Folder) (question.TrustAnswer, error)
	Consent(ctx context.Context, folder string, wishes []question.ConsentItem) (question.Consent, error)
}

// AskTrust asks about the folder, unless the user has decided about it.
func (o *Options) AskTrust(ctx context.Context, user Consenter, notify func(string)) error {
	if o.Trust.State != trust.Unknown {
		return nil
	}
	wishes := itemsIfTrusted(o)
	state, said, err := decide(ctx, o, user, notify, o.Trust, wishes)
	if errors.Is(err, talk.ErrGone) {
		return o.Trust.Refuse()
	}
	if err != nil || state != trust.Trusted {
		return err
	}
	o.Trust.State = trust.Trusted
	if said.Both {
		o.consents.store(ctx, wishes, said.Commands, notify)
	}
	return o.load(true)
}

// itemsIfTrusted returns the items that would need consent if the folder was trusted.
func itemsIfTrusted(o *Options) []undecided {
	copied := *o
	in := &copied
	in.Trust.State = trust.Trusted
	in.consents = newConsents(in)
	if in.load(true) != nil { // the later reading of the settings prints the error
		return nil
	}
	return undecidedItems(in, func(string) {})
}

// decide asks about a folder, and stores the answer.
func decide(ctx context.Context, o *Options, user Consenter, notify func(string), t trust.Status, wishes []undecided) (trust.State, question.TrustAnswer, error) {
	f := question.Folder{Path: t.Folder, Home: o.Paths.Home}
	if t.State == trust.Trusted || t.State == trust.Distrusted {
		f.Decided = t.State.String()
	}
	f.Contents, f.Caution = trust.Summary(t.Contents)
	f.Items = lists.Map(wishes, undecided.shown)
	said, err := user.Trust(ctx, f)
	if err != nil || said.Folder == question.NotNow {
		return trust.Unknown, said, err
	}
	rule := map[question.Decision]trust.Rule{question.TrustFolder: trust.Folder,
		question.TrustParent: trust.Parent, question.DoNotTrust: trust.Deny}[said.Folder]
	if _, err := trust.Folders(o.Paths, o.Env.Lookup).Remember(ctx, t.Folder, rule); err != nil {
		notify(notSaved(err))
	}
	if rule == trust.Deny {
		return trust.Distrusted, said, nil
	}
	return trust.Trusted, said, nil
}

// Permit returns a function that asks the user about a folder during a session, and returns the
// decision.
func Permit(o *Options, user Consenter, notify func(string)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, folder string) (string, error) {
		paths := project.Paths{Home: o.Paths.Home, Cwd: o.Paths.Folder(folder)}
		if info, err := os.Stat(paths.Cwd); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder", paths.Cwd)
		}
		so, err := trust.Decide(paths, o.Settings, o.Flags, o.Env.Lookup)
		if err != nil {
			return "", err
		}
		state, _, err := decide(ctx, o, user, notify, trust.Status{Folder: paths.Cwd, State: so.State,
			Contents: trust.Scan(paths, o.Settings)}, nil)
		if err != nil || state == trust.Unknown {
			return "nothing was decided", err
		}
		when := " from the next start on"
		if so.WhyForbidden() != "" {
			when += " without " + so.Why
		}
		return state.String() + when + "; this session goes on as it began", nil
	}
}

// Agree asks for consent to the project's items that are new or have changed, and stores the
// answer.
func (o *Options) Agree(ctx context.Context, user Consenter, notify func(string)) error {
	said := o.consents.given // given together with trust in the folder
	o.consents = newConsents(o)
	o.consents.add(said)
	return o.consents.ask(ctx, user.Consent, undecidedItems(o, notify), notify)
}

// undecidedItems returns the project's items that need consent.
func undecidedItems(o *Options, notify func(string)) (all []undecided) {
	var err error
	o.found.hooks, o.found.agents = findHooks(o), newAgentSet(o)
	if o.found.discovery, err = newDiscovery(o); err != nil {
		notify(err.Error())
	}
	o.found.servers = newServerSet(o, notify)
	return o.consents.undecided(slices.Concat(o.found.hooks.items(), []item{o.found.discovery.item()}, o.found.servers.items(),
		o.found.agents.items(), []item{checkItem(o)})...)
}
