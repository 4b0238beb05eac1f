package question_test

import (
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/question"
)

// A front end shows what a call is about, offers what may be answered, and
// makes of the choice an answer for the engine.
func Example() {
	p := engine.Proposal{
		Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "run_shell_command"}, Kind: engine.Execute},
		Intent: engine.Intent{
			Title: "run: make test", Detail: "make test",
			Grants: []engine.Grant{{Label: "always make test", Rule: "[[rule]]"}},
			Plan:   engine.Plan{Limits: "write to this directory only"},
		},
	}
	fmt.Println(question.Title(p) + question.Rights(p))
	for _, f := range question.Facts(p, true) {
		fmt.Printf("%s: %s\n", f.Label, f.Text)
	}
	for _, g := range question.Grants(p) {
		fmt.Print(g.Label, ", for:")
		for _, s := range question.Scopes(g) {
			fmt.Print(" ", question.ScopeName(s))
		}
		fmt.Println()
	}
	p.Agent = "tester"
	fmt.Println(question.Title(p))
	answer, problem := question.Always(p.Intent.Grants[0], engine.InProject)
	fmt.Println(answer.(engine.Allowed).Grant.Label, problem)
	// Output:
	// run: make test
	// info: commands write to this directory only
	// always make test, for: session project user
	// tester: run: make test
	// always make test
}
