package project

import (
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings/consent"
)

// checkItem returns the settings' command that checks the work, as an item for consent.
func checkItem(o *Options) item {
	command := o.Settings.Check
	return item{ofProject: command != "" && command != o.userSettings.Check, confined: true,
		consent: question.ConsentItem{Title: "check of the model's work, confined in any case", Command: command},
		findStarted: func() (consent.Started, string) {
			s := startedFiles(o, o.Paths.Cwd, nil, nil, command)
			return s, s.Fingerprint("check", command)
		}}
}

// loadCheck returns the command that checks the work. Without consent to the project's command, it
// prints a note and returns the user's own command.
func (o *Options) loadCheck(notify func(string)) (check string) {
	check = o.Settings.Check
	i := checkItem(o)
	if check == "" && o.Flags.CheckRounds != nil {
		notify("--check-rounds does nothing: neither --check nor the setting check names a command")
	}
	if !i.ofProject {
		return check
	}
	if err := o.consents.readStored(); err != nil {
		notify(err.Error())
	}
	switch said := o.consents.granted(i); {
	case said == consent.Confined || said == consent.All:
	case said == "" && agreedByFlag(o, i):
	case said == "":
		notify("the check of this project does not run, since nobody has agreed to it: " +
			text.OneLine(i.consent.Command, MaxNameLength) + howAgreed(o))
		fallthrough
	default:
		check = o.userSettings.Check
	}
	return check
}
