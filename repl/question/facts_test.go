package question

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/output"
)

// call returns a proposal of a command.
func call(in engine.Intent) engine.Proposal {
	return engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "run_shell_command"}, Kind: engine.Execute}, Intent: in}
}

// A command has the facts that its title does not tell, in this order.
func TestFacts(t *testing.T) {
	held := engine.Plan{Limits: "have no network"}
	with := func(change func(*engine.Plan)) engine.Plan {
		p := held
		change(&p)
		return p
	}
	for _, c := range []struct {
		name string
		in   engine.Intent
		want string
	}{
		{"plain", engine.Intent{Plan: held}, "info: commands have no network"},
		{"unconfined", engine.Intent{}, "info: commands are not confined: they run with all your rights"},
		{"hidden", engine.Intent{Title: "a\u202eb", Plan: held}, "warning: control or invisible characters are shown as escapes; info: commands have no network"},
		{"look-alikes", engine.Intent{Detail: "p\u0430y", Plan: held}, "warning: one word mixes letters of several alphabets: pаy (U+0430); info: commands have no network"},
		{"a hook's wish", engine.Intent{Ask: "hook a wants to ask:\nlook " + strings.Repeat("x", 300), Plan: held},
			"info: hook a wants to ask: look " + strings.Repeat("x", 200-len("hook a wants to ask: look ")) + "...; info: commands have no network"},
		{"secret", engine.Intent{Secret: ".env", Plan: held}, "info: .env may hold secrets; info: commands have no network"},
		{"writes", engine.Intent{Plan: with(func(p *engine.Plan) { p.Writes = []string{"a", "b"} })}, "info: the command writes: a, b; info: commands have no network"},
		{"opaque", engine.Intent{Plan: with(func(p *engine.Plan) { p.Class, p.Why = engine.Opaque, "it evaluates text" })},
			"warning: the command evaluates text; info: commands have no network"},
		{"too long for always", engine.Intent{Detail: strings.Repeat("x", 5000), Grants: []engine.Grant{{}}, Plan: held},
			"warning: always is not offered: the command has 5000 characters; info: commands have no network"},
		{"failed", engine.Intent{Plan: with(func(p *engine.Plan) {
			p.Failure.Reason, p.Rights.Network, p.Writes = "the network", true, []string{"a"}
		})},
			"info: commands have no network; info: the command failed; it probably needs the network"},
	} {
		var got []string
		for _, f := range Facts(call(c.in), true) {
			got = append(got, fmt.Sprintf("%s: %s", f.Label, f.Text))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, s, c.want)
		}
	}
}

// A command that shows something else than it is comes with a warning, and is
// not allowed for longer than once.
func FuzzFacts(f *testing.F) {
	f.Add("ls")
	f.Add("rm\u200b x")
	f.Add("\x1b[8mrm")
	f.Fuzz(func(t *testing.T, command string) {
		p := call(engine.Intent{Title: "run", Detail: command, Grants: []engine.Grant{{Label: "always"}}})
		warned := false
		for _, fact := range Facts(p, true) {
			warned = warned || fact.Label == output.Warning
		}
		if output.NeedsEscape(command) && (!warned || len(Grants(p)) > 0) {
			t.Errorf("%q: %v, %v", command, Facts(p, true), Grants(p))
		}
	})
}
