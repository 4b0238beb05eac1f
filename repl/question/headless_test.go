package question

import (
	"errors"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

func TestHeadless(t *testing.T) {
	flags, tool := "", engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write_file"}}
	h := Headless{Flags: func(engine.Proposal) string { return flags }}
	terminal := "run it in a session at a terminal, where it is asked about"
	rights := engine.Intent{Plan: engine.Plan{Rights: engine.Rights{Network: true}}}
	kept := engine.Intent{Grants: []engine.Grant{{Rule: "[[rule]]"}}}
	for _, test := range []struct {
		in          engine.Intent
		flags, want string
	}{
		{engine.Intent{}, `--allowed-tools "glob"`, `allow it with --allowed-tools "glob" (policy files: gemline help policy)`},
		{kept, "", "allow it with a rule in a policy file (gemline help policy), or " + terminal},
		{engine.Intent{}, "", terminal},
		{rights, "--approval-mode yolo", terminal},
		{engine.Intent{Ask: "hook a wants to ask: why"}, "--x", "hook a wants to ask: why; " + terminal},
		{engine.Intent{Questions: []engine.Question{{}}}, "--x", "questions are answered in a session at a terminal"},
	} {
		flags = test.flags
		if a, err := h.Approve(t.Context(), engine.Proposal{Intent: test.in}); a != engine.Answer(engine.Unasked{Advice: test.want}) || err != nil {
			t.Errorf("%q: %+v, %v", test.want, a, err)
		}
	}
	if a, err := (Headless{FailOnAsk: true}).Approve(t.Context(), engine.Proposal{Tool: tool, Intent: kept}); a != nil || !errors.Is(err, ErrAsked) {
		t.Errorf("%+v, %v", a, err)
	}
}
