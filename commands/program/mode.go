package program

import (
	"fmt"
	"slices"

	"gemline/engine/policy"
	"gemline/repl/output"
)

// meanings say what runs without a question in each approval mode.
var meanings = map[policy.Mode]string{
	policy.Default:  "edits and commands are asked about",
	policy.AutoEdit: "edits run without a question, commands are asked about",
	policy.Auto:     "what is confined and can be taken back runs without a question; the network, other places, protected files and secrets are asked about",
	policy.Yolo:     "everything runs without a question",
	policy.Plan:     "nothing but plans is changed",
}

// mode changes the approval mode of the session, unless word is empty, and says
// which it is.
func (s *Session) mode(word string) (string, error) {
	if word != "" {
		if err := s.setMode(policy.Mode(word)); err != nil {
			return "", err
		}
	}
	m := s.policy.Mode()
	return fmt.Sprintf("approval mode: %s (%s)", m, meanings[m]), nil
}

// setMode changes the approval mode, as far as a flag could have set it.
func (s *Session) setMode(m policy.Mode) error {
	err := s.mayUse(m)
	if err == nil {
		s.recordMode(s.policy.Mode(), m)
		s.policy.SetMode(m)
	}
	return err
}

// cycle are the approval modes that Shift-Tab goes through. Yolo has to be
// asked for by its name.
var cycle = []policy.Mode{policy.Default, policy.AutoEdit, policy.Auto, policy.Plan}

// nextMode goes on to the next approval mode that may be used here, says which
// it is, and returns the prompt.
func (i *interactive) nextMode() string {
	at := slices.Index(cycle, i.front.session.policy.Mode())
	for n := range cycle {
		if i.front.session.setMode(cycle[(at+1+n)%len(cycle)]) == nil {
			break
		}
	}
	if said, err := i.front.session.mode(""); err == nil {
		i.screen.Console.Out.Line(output.Info, "%s", said)
	}
	return i.readyPrompt()
}

// readyPrompt returns the prompt, which shows any approval mode but default.
// Programs that wait for a prompt get the same one in all modes.
func (i *interactive) readyPrompt() string {
	switch {
	case i.typed.Mode():
		return output.Shell
	case i.screen.Console.Stable:
		return output.Ready
	}
	return output.ReadyIn(string(i.front.session.policy.Mode()))
}
