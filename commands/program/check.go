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
// asked about; the command is empty if it is the user's, or there is none.
func (o *Options) projectCheck() (w wish) {
	command := o.settings.Check
	if command == "" || command == o.userSettings.Check {
		return w
	}
	s := o.started(o.paths.Cwd, nil, nil, command)
	return wish{question.Wish{Title: "check of the model's work, confined in any case", Command: command, Files: s.Files},
		s.Fingerprint("check", command)}
}

// openCheck returns the check of the project, if nobody has said anything about it.
func (o *Options) openCheck() []wish {
	w := o.projectCheck()
	if w.Command == "" || o.agreed.rights(w.print) != "" {
		return nil
	}
	return []wish{w}
}

// loadCheck finds the command that checks the work: the user's, where the project has one
// that nobody has agreed to, which is said.
func (p *Project) loadCheck() {
	p.check = p.opts.settings.Check
	w := p.opts.projectCheck()
	if p.check == "" && p.opts.flags.CheckRounds != nil {
		p.status.notify("--check-rounds does nothing: neither --check nor the setting check names a command")
	}
	if w.Command == "" {
		return
	}
	if err := p.opts.agreed.kept(); err != nil {
		p.status.notify(err.Error())
	}
	switch said := p.opts.agreed.rights(w.print); {
	case said == consent.Confined || said == consent.All:
	case said == "" && p.opts.agreedByFlag(w.print):
	case said == "":
		p.status.notify("the check of this project does not run, since nobody has agreed to it: " +
			text.OneLine(w.Command, longestName) + howAgreed)
		fallthrough
	default:
		p.check = p.opts.userSettings.Check
	}
}

// checked returns the check of what is done in the conversation.
func (s *Session) checked() check.Config {
	if s.rehearsal != nil || s.Generator != nil {
		return check.Config{}
	}
	mends := 3
	if n := s.opts.flags.CheckRounds; n != nil {
		mends = *n
	}
	return check.Config{Command: s.project.check, Mends: mends,
		Kind: func(name string) engine.Kind { return engine.KindOf(s.tools, name) },
		Run:  func(ctx context.Context) (engine.Result, int, error) { return s.env.Check(ctx, s.project.check) }}
}
