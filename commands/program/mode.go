package program

import (
	"fmt"
	"path/filepath"
	"slices"

	"gemline/commands"
	"gemline/engine/policy"
	"gemline/repl/output"
	"gemline/settings/trust"
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

// wide says which directory that is no project is worked in, "" if it is another one.
func (o *Options) wide() string {
	switch dir := o.paths.Folder(""); {
	case o.paths.AtHome():
		return "your home directory"
	case filepath.Dir(dir) == dir:
		return "the root directory"
	}
	return ""
}

// mayUse returns why an approval mode can't be used here, nil if it can.
func (o *Options) mayUse(m policy.Mode) error {
	untrusted := o.trust.State < trust.Unneeded
	switch {
	case !slices.Contains(policy.Modes[:], m):
		return &commands.Error{Misused: true,
			Message: fmt.Sprintf("there is no approval mode %.40q; there are: default, auto_edit, auto, plan and yolo", m)}
	case m == policy.Plan && !o.settings.PlanMode:
		return &commands.Error{Message: "general.plan.enabled in the settings switches the approval mode plan off"}
	case m == policy.Yolo && o.settings.NoYolo:
		return &commands.Error{Message: "security.disableYoloMode in the settings forbids the approval mode yolo"}
	case m == policy.Auto && o.wide() != "":
		return fmt.Errorf("the approval mode auto can't be used in %s; start in the folder of a project", o.wide())
	case untrusted && (m == policy.Yolo || m == policy.AutoEdit || m == policy.Auto):
		return fmt.Errorf("this folder is not trusted, so edits and commands are asked about; "+
			"gemline trust add lets the next session use %s", m)
	}
	return nil
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
	case i.shellMode():
		return output.Shell
	case i.screen.Console.Stable:
		return output.Ready
	}
	return output.ReadyIn(string(i.front.session.policy.Mode()))
}
