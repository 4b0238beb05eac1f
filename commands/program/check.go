package program

import (
	"context"

	"gemline/engine"
	"gemline/engine/check"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings/consent"
)

// projectCheck returns the command that the project's settings check the work by, as it is
// asked about, and its fingerprint; the command is empty if it is the user's, or there is
// none.
func (o *Options) projectCheck() (w question.Wish, print string) {
	command := o.settings.Check
	if command == "" || command == o.userSettings.Check {
		return w, ""
	}
	files := consent.Files(o.paths.Cwd, command)
	w = question.Wish{Title: "check of the model's work, confined in any case", Command: command, Files: files}
	return w, consent.Fingerprint(files, "check", command)
}

// agreed returns what was said about a command of the project, "" if nothing was.
func (o *Options) agreed(print string) (consent.Rights, error) {
	if o.hooks != nil && o.hooks.agreed[print] != "" {
		return o.hooks.agreed[print], nil
	}
	all, err := consent.In(o.paths).Of(o.trust.Folder)
	return all[print], err
}

// openCheck returns the check of the project, if nobody has said anything about it.
func (o *Options) openCheck() (wishes []question.Wish, prints []string) {
	w, print := o.projectCheck()
	if w.Command == "" {
		return nil, nil
	}
	if said, _ := o.agreed(print); said != "" {
		return nil, nil
	}
	return []question.Wish{w}, []string{print}
}

// loadCheck finds the command that checks the work: the user's, where the project has one
// that nobody has agreed to, which is said.
func (p *Project) loadCheck() {
	p.check = p.settings.Check
	w, print := p.projectCheck()
	if p.check == "" && p.flags.CheckRounds != nil {
		p.notify("--check-rounds does nothing: neither --check nor the setting check names a command")
	}
	if w.Command == "" {
		return
	}
	said, err := p.agreed(print)
	if err != nil {
		p.notify(err.Error())
	}
	switch {
	case said == consent.Confined || said == consent.All:
	case said == "" && p.trustedByFlag() && !p.consulted():
	case said == "":
		p.notify("the check of this project does not run, since nobody has agreed to it: " +
			text.OneLine(w.Command, longestName) + howAgreed)
		fallthrough
	default:
		p.check = p.userSettings.Check
	}
}

// checked returns the check of what is done in the conversation.
func (s *Session) checked() check.Config {
	if s.rehearsal != nil || s.Generator != nil {
		return check.Config{}
	}
	mends := 3
	if n := s.flags.CheckRounds; n != nil {
		mends = *n
	}
	return check.Config{Command: s.check, Mends: mends,
		Kind: func(name string) engine.Kind { return engine.KindOf(s.tools, name) },
		Run:  func(ctx context.Context) (engine.Result, int, error) { return s.env.Check(ctx, s.check) }}
}
