package question

import (
	"cmp"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A Fact is information about a call for the user's decision.
type Fact struct {
	Label output.Label // Info or Warning
	Text  string       // without escapes

	// Usual says that the Fact holds for most calls. It is printed again only after a change.
	Usual bool

	// Failed says that the Fact names the missing right for which a command failed, as
	// [ConfirmTitle] does.
	Failed bool
}

// longestReason is the longest reason, in characters, why a call always needs approval.
const longestReason = 200

// longestName is the most characters of a program's name.
const longestName = 40

// Facts returns the facts about a call beside its title and detail. If the detail is shown, it may
// be long, so the facts also list parts of the command that it shows.
func Facts(p engine.Proposal, shown bool) []Fact {
	var fs facts
	in := p.Intent
	if in.Ask != "" {
		fs.info(text.OneLine(in.Ask, longestReason))
	}
	fs.appearance(p)
	if in.Secret != "" && !namesSecret(in) { // otherwise the question names the secret
		fs.info(in.Secret + " may hold secrets")
	}
	if in.Plan.Failure.Reason == "" { // otherwise the first question told it
		fs.plan(in, shown)
	}
	if len(in.Grants) > 0 && unwieldy(p) != "" {
		fs.warn("always is not offered: " + unwieldy(p))
	}
	if p.Tool.Kind == engine.Execute {
		fs.limits(p)
	}
	return fs
}

type facts []Fact

func (fs *facts) info(text string) { *fs = append(*fs, Fact{Label: output.Info, Text: text}) }
func (fs *facts) warn(text string) { *fs = append(*fs, Fact{Label: output.Warning, Text: text}) }

// list describes the effects of a call in a line.
func (fs *facts) list(what string, all []string) {
	if len(all) > 0 {
		fs.info(what + ": " + strings.Join(all, ", "))
	}
}

// appearance warns about characters that look like others.
func (fs *facts) appearance(p engine.Proposal) {
	in := p.Intent
	if output.NeedsEscape(in.Title) || output.NeedsEscape(in.Detail) {
		fs.warn("control or invisible characters are shown as escapes")
	}
	if word := mixedAlphabets(in.Title + "\n" + in.Detail); word != "" {
		fs.warn("one word mixes letters of several alphabets: " + word + " (" + codePoints(word) + ")")
	}
	if _, s := covered(p); lookalikeSign(s) != "" {
		fs.warn("this character may look like another: " + lookalikeSign(s) + " (" + codePoints(lookalikeSign(s)) + ")")
	}
	for _, name := range Programs(in) {
		if odd := codePoints(name); odd != "" && !output.NeedsEscape(name) {
			fs.warn("the name of a program is not plain ASCII: " + text.Shorten(name, longestName) + " (" + odd + ")")
		}
	}
}

// plan lists the programs and effects of a call that its title does not show. The title of a plain
// command on one line shows all.
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

// limits describes the confinement of a call's programs, and why a failed command needs another
// approval.
func (fs *facts) limits(p engine.Proposal) {
	in := p.Intent
	*fs = append(*fs, Fact{Label: output.Info, Text: Confinement(in), Usual: true})
	switch failure := in.Plan.Failure; {
	case failure.Reason != "" && (failure.ReadOnly || in.Plan.Rights.Empty()):
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
