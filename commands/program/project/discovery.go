package project

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"gemline/engine"
	"gemline/repl/question"
	"gemline/settings/consent"
	"gemline/tools"
	"gemline/tools/launch"
)

// A discovery holds the command that declares tools, and the command that calls them, from the
// settings.
type discovery struct {
	tools.Discovery
	ofProject bool // the project's settings set one of the two
	consents  *consents
	start     func() consent.Started // finds the files that the commands start

	mu    sync.Mutex
	done  bool
	found engine.Tools
}

// newDiscovery returns the discovery of the settings. It runs no command.
func newDiscovery(o *Options) (d *discovery, err error) {
	d = &discovery{consents: o.consents}
	said, user := o.Settings, o.userSettings
	d.Command, d.Call = strings.TrimSpace(said.DiscoveryCommand), strings.TrimSpace(said.CallCommand)
	d.Dir, d.Rights = o.Paths.Cwd, d.runsUnconfined
	d.start = func() consent.Started { return startedFiles(o, d.Dir, nil, nil, d.Command, d.Call) }
	d.ofProject = d.Command != "" && (said.DiscoveryCommand != user.DiscoveryCommand || said.CallCommand != user.CallCommand)
	if d.ofProject {
		d.Env, err = o.Env.projectEnviron(), o.consents.readStored()
	}
	return d, err
}

// loadDiscovery finds the commands, unless the question of consent has already found them.
func (o *Options) loadDiscovery(notify func(string)) {
	if o.found.discovery != nil {
		return
	}
	var err error
	if o.found.discovery, err = newDiscovery(o); err != nil {
		notify(err.Error())
	}
}

// item returns the commands as an item for consent.
func (d *discovery) item() item {
	return item{ofProject: d.ofProject,
		consent: question.ConsentItem{Title: "tools that the first command declares and the second carries out",
			Command: d.Command + "\n" + d.Call},
		findStarted: func() (consent.Started, string) {
			s := d.start()
			return s, s.Fingerprint("tools", d.Command, d.Call)
		}}
}

// rights returns the rights of the commands, "" if the user has not decided about their present
// form.
func (d *discovery) rights() consent.Rights { return d.consents.rights(d.item()) }

// runsUnconfined reports whether the commands run unconfined; see [tools.Discovery.Rights].
func (d *discovery) runsUnconfined() (bool, error) {
	switch d.rights() {
	case consent.All:
		return true, nil
	case consent.Confined:
		return false, nil
	}
	return false, errors.New("tools.discoveryCommand or tools.callCommand has changed since it was agreed to; " +
		"the next session asks about it")
}

// DiscoveredTools returns the tools that the command declares. The command runs once, started by l,
// for the first conversation.
func (o *Options) DiscoveredTools(ctx context.Context, l *launch.Launcher, notify func(string)) (engine.Tools, error) {
	d := o.found.discovery
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done || d.Command == "" {
		return d.found, nil
	}
	d.printNotAgreed(o, notify)
	switch d.rights() {
	case "", consent.None:
	default:
		found, err := d.Tools(ctx, l)
		if err != nil {
			return nil, &DiscoveryError{fmt.Errorf("tools.discoveryCommand (%s): %w", d.Command, err)}
		}
		d.found = found
	}
	d.done = true
	return d.found, nil
}

// printNotAgreed says that the command does not run because nobody has agreed to it.
func (d *discovery) printNotAgreed(o *Options, notify func(string)) {
	if d.Command != "" && d.rights() == "" && !agreedByFlag(o, d.item()) {
		notify("the tools of this project are not offered, since nobody has agreed to what " +
			"tools.discoveryCommand and tools.callCommand are now" + howAgreed(o))
	}
}

// A DiscoveryError is the failure of the command that declares tools.
type DiscoveryError struct{ error }

// Unwrap returns the cause.
func (e *DiscoveryError) Unwrap() error { return e.error }

// Hint says how to proceed.
func (*DiscoveryError) Hint() string {
	return "mend the command, or take it out of the settings (gemline config list --origin names the file)"
}
