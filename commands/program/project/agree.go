package project

import (
	"context"
	"slices"
)

// Agree asks for consent to the project's items that are new or have changed, and stores the
// answer.
func (o *Options) Agree(ctx context.Context, user Consenter, notify func(string)) error {
	said := o.agreed.given // together with the folder
	o.agreed = newConsents(o)
	o.agreed.give(said)
	return o.agreed.ask(ctx, user.Consent, wanted(o, notify), notify)
}

// wanted returns the project's items that need consent.
func wanted(o *Options, notify func(string)) (all []undecided) {
	var err error
	o.Found.Hooks, o.Found.agents = FindHooks(o), newAgentSet(o)
	if o.Found.discovery, err = newDiscovery(o); err != nil {
		notify(err.Error())
	}
	o.Found.servers = newServerSet(o, notify)
	items := slices.Concat(o.Found.Hooks.items(), o.Found.discovery.items(), o.Found.servers.items(), o.Found.agents.items(), []item{checkItem(o)})
	return o.agreed.open(items...)
}
