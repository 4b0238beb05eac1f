package question

import (
	"cmp"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A Fact is something to know about a call before it is decided on.
type Fact struct {
	Label output.Label // Info or Warning
	Text  string       // nothing in it is escaped

	// Usual says that the Fact holds for most calls, so that it is printed
	// again only after a change.
	Usual bool

	// Failed says that the Fact names the right that a command failed without, as [ConfirmTitle]
	// does.
	Failed bool
}

// longestReason is the most characters of the reason why a call is always asked about.
const longestReason = 200

// longestName is the most characters of a program's name.
const longestName = 40

// Facts returns the facts about a call that its title and detail do not tell.
// If the detail is shown, no part of a command counts as evident.
func Facts(p engine.Proposal, shown bool) []Fact {
	var fs facts
	in := p.Intent
	if in.Ask != "" {
		fs.info(text.OneLine(in.Ask, longestReason))
	}
	fs.appearance(in)
	if in.Secret != "" && !namesSecret(in) { // else the question says so
		fs.info(in.Secret + " may hold secrets")
	}
	if in.Plan.Failure.Reason == "" { // else it was told when the command was asked about first
		fs.plan(in, shown)
	}
	if p.Tool.Kind == engine.Execute {
		fs.limits(p)
	}
	return fs
}

type facts []Fact

func (fs *facts) info(text string) { *fs = append(*fs, Fact{Label: output.Info, Text: text}) }
func (fs *facts) warn(text string) { *fs = append(*fs, Fact{Label: output.Warning, Text: text}) }

// list tells what a call does, on a line.
func (fs *facts) list(what string, all []string) {
	if len(all) > 0 {
		fs.info(what + ": " + strings.Join(all, ", "))
	}
}

// appearance warns of characters that mislead the eye.
func (fs *facts) appearance(in engine.Intent) {
	if output.NeedsEscape(in.Title) || output.NeedsEscape(in.Detail) {
		fs.warn("control or invisible characters are shown as escapes")
	}
	if word := mixedAlphabets(in.Title + "\n" + in.Detail); word != "" {
		fs.warn("one word mixes letters of several alphabets: " + word + " (" + codePoints(word) + ")")
	}
	for _, name := range Programs(in) {
		if odd := codePoints(name); odd != "" && !output.NeedsEscape(name) {
			fs.warn("the name of a program is not plain ASCII: " + text.Shorten(name, longestName) + " (" + odd + ")")
		}
	}
}

// plan lists what a call would run beyond its title. The title of a plain
// command on one line says everything.
func (fs *facts) plan(in engine.Intent, shown bool) {
	sets := Environment(in)
	nested := func(c engine.Command) bool { return c.Wrapper != "" }
	evident := in.Plan.Class == engine.Plain && !shown && !slices.ContainsFunc(in.Plan.Commands, nested)
	if len(sets) > 0 || len(in.Plan.Commands) > 1 && !evident {
		fs.list("the command runs", Programs(in))
	}
	fs.list("the command sets", sets)
	if !evident {
		fs.list("the command writes", in.Plan.Writes)
	}
	if why := in.Plan.Why; in.Plan.Class == engine.Opaque && why != "" {
		if does, ok := strings.CutPrefix(why, "it "); ok {
			why = "the command " + does
		}
		fs.warn(why)
	}
}

// limits adds how the programs of a call are confined, and why a failed command is asked about
// again.
func (fs *facts) limits(p engine.Proposal) {
	in := p.Intent
	if len(in.Grants) > 0 && len(Grants(p)) == 0 {
		fs.warn("always is not offered: " + unwieldy(in.Detail))
	}
	*fs = append(*fs, Fact{Label: output.Info, Text: Confinement(in), Usual: true})
	switch failure := in.Plan.Failure; {
	case failure.ReadOnly:
		*fs = append(*fs, Fact{Label: output.Info, Text: failure.Reason, Failed: true})
	case failure.Reason != "" && len(failure.Unwritable) > 0: // the question names the missing rights
		fs.list("the command failed; it could not write", failure.Unwritable)
	case failure.Reason != "":
		*fs = append(*fs, Fact{Label: output.Info, Text: "the command failed; it probably needs " + failure.Reason, Failed: true})
	}
}

// Confinement describes the confinement of the programs that a call runs.
func Confinement(in engine.Intent) string {
	return "commands " + cmp.Or(in.Plan.Limits, "are not confined: they run with all your rights")
}
