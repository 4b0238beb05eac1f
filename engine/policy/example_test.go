package policy_test

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/policy"
)

// A rule of the user's lets git run unasked; another one denies one of its
// sub-commands, and comes first although it is the weaker one.
func ExamplePolicy_Explain() {
	rules, _, err := policy.Parse("git.toml", policy.User, []byte(`
[[rule]]
toolName = "run_shell_command"
commandPrefix = "git"
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "deny"
priority = 50
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	p := policy.New(policy.Default, rules...)
	for _, line := range []string{"git log", "git -C sub push", "make"} {
		e := p.Explain(command(line))
		fmt.Printf("%s: %s, by %s\n", line, policy.VerdictName(e.Verdict), e.Rule.Origin.File)
	}
	// Output:
	// git log: allow, by git.toml
	// git -C sub push: deny, by git.toml
	// make: ask_user, by built-in rules
}

// command returns the call of the shell that runs line, of which all words are known.
func command(line string) engine.Proposal {
	var words []engine.Word
	for word := range strings.FieldsSeq(line) {
		words = append(words, engine.Word{Text: word, Known: true})
	}
	return engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: policy.Shell}, Kind: engine.Execute},
		Args:   map[string]any{"command": line},
		Intent: engine.Intent{Plan: engine.Plan{Class: engine.Plain, Commands: []engine.Command{{Argv: words}}}}}
}
