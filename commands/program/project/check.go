package project

import (
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings/consent"
)

// projectCheck returns the command that the project's settings check the work by, as it is
// asked about; the command is empty if it is the user's, or there is none.
func (o *Options) projectCheck() (w wish) {
	command := o.Settings.Check
	if command == "" || command == o.userSettings.Check {
		return w
	}
	s := o.started(o.Paths.Cwd, nil, nil, command)
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

// LoadCheck returns the command that checks the work: the user's, where the project has one
// that nobody has agreed to, which is said.
func (o *Options) LoadCheck(notify func(string)) (check string) {
	check = o.Settings.Check
	w := o.projectCheck()
	if check == "" && o.Flags.CheckRounds != nil {
		notify("--check-rounds does nothing: neither --check nor the setting check names a command")
	}
	if w.Command == "" {
		return check
	}
	if err := o.agreed.kept(); err != nil {
		notify(err.Error())
	}
	switch said := o.agreed.rights(w.print); {
	case said == consent.Confined || said == consent.All:
	case said == "" && o.agreedByFlag(w.print):
	case said == "":
		notify("the check of this project does not run, since nobody has agreed to it: " +
			text.OneLine(w.Command, LongestName) + howAgreed)
		fallthrough
	default:
		check = o.userSettings.Check
	}
	return check
}
