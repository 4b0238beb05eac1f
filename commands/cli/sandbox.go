package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"gemline/engine/text"
	"gemline/settings/flags"
	"gemline/tools/sandbox"
)

// sandboxCommand is gemline sandbox.
type sandboxCommand struct {
	Status sandboxStatus `cmd:"" default:"withargs" help:"Say what confines commands, and what they may do."`
	Run    sandboxRun    `cmd:"" help:"Run a command as the model's are run: confined."`
}

// Confinement is what confines the commands of a run.
type Confinement struct {
	Sandbox sandbox.Sandbox // nil if nothing does
	Chosen  bool            // by the user, who knows what else it lets through
	State   func() sandbox.State
	Profile sandbox.Profile // what a command of the model's may do
	Masks   func() ([]Mask, error)
	Environ []string            // the environment of commands
	Place   func(string) string // makes a word of the user's a path
}

// A Mask is a program that rules deny, and what commands have of it all the same.
type Mask struct {
	Program string   `json:"program"`
	Files   []string `json:"files"`  // that are not there for commands
	Others  []string `json:"others"` // names of programs that are not there either, as they are the same files
	Left    string   `json:"left"`   // why a command may run it, "" if none can
}

// line says what is masked for m.
func (m Mask) line() string {
	text := "a rule denies " + m.Program + ": "
	if len(m.Files) > 0 {
		text += "not there are " + strings.Join(m.Files, ", ")
		if len(m.Others) > 0 {
			text += ", and so " + strings.Join(m.Others, ", ")
		}
	}
	if m.Left != "" && len(m.Files) > 0 {
		text += "; "
	}
	if m.Left != "" {
		text += "it goes by the words of commands, since " + m.Left
	}
	return text
}

// A StatusError is the status of a command that gemline has run for the user,
// who is told nothing more unless it could not be run.
type StatusError struct {
	Code int
	Err  error // why it did not run, nil if it did
}

// Error says which status it is, or what kept the command from running.
func (e *StatusError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("status %d", e.Code)
}

// A shownState is what --json has of the sandbox.
type shownState struct {
	Name     string       `json:"name"`
	Step     string       `json:"step"`
	Confined bool         `json:"confined"`
	Files    bool         `json:"files"`
	Network  bool         `json:"network"`
	Layers   []shownLayer `json:"layers"`
}

type shownLayer struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	Why  string `json:"why"`
}

type shownProfile struct {
	Root     string   `json:"root"`
	Write    []string `json:"write"`
	ReadOnly []string `json:"read_only"`
	Hidden   []string `json:"hidden"`
	Network  bool     `json:"network"`
}

func shownSandbox(st sandbox.State) shownState {
	out := shownState{Name: st.Name, Step: st.Step, Confined: st.Confined(), Files: st.Files, Network: st.Network, Layers: []shownLayer{}}
	for _, l := range st.Layers {
		out.Layers = append(out.Layers, shownLayer(l))
	}
	return out
}

type sandboxStatus struct{}

// Run prints what is in force.
func (*sandboxStatus) Run(w *World) error {
	c, err := w.Project.Confinement()
	if err != nil {
		return err
	}
	st, p := c.State(), c.Profile
	yes := map[bool]string{true: "yes", false: "no"}
	lines := []string{
		fmt.Sprintf("%s: %s", st.Name, cmp.Or(st.Step, "nothing is in force")),
		"commands can't write elsewhere: " + yes[st.Files],
		"commands have no network: " + yes[st.Network && !p.Network],
	}
	for _, l := range st.Layers {
		lines = append(lines, fmt.Sprintf("  %-3s  %s: %s", map[bool]string{true: "on", false: "off"}[l.On], l.Name, l.Why))
	}
	if c.Sandbox != nil {
		lines = append(lines, "commands write to: "+strings.Join(append([]string{p.Root}, p.Write...), ", "),
			"and can't read: "+cmp.Or(strings.Join(slices.DeleteFunc(slices.Clone(p.Hidden), notThere), ", "), "nothing of yours, since no known secrets are here"))
	}
	masks, err := c.Masks()
	if err != nil {
		return err
	}
	for _, m := range masks {
		lines = append(lines, m.line())
	}
	list := func(paths []string) []string { return append([]string{}, paths...) }
	return w.show(map[string]any{"sandbox": shownSandbox(st), "masked": masks,
		"profile": shownProfile{p.Root, list(p.Write), list(p.ReadOnly), list(p.Hidden), p.Network}}, lines...)
}

// notThere reports whether there is nothing at path.
func notThere(path string) bool {
	_, err := os.Lstat(path)
	return err != nil
}

type sandboxRun struct {
	Network bool     `help:"Let it reach the network."`
	Write   []string `placeholder:"DIR" complete:"dirs" help:"Let it write there, too; repeat, or separate by commas."`
	Command []string `arg:"" passthrough:"" help:"The command, behind --."`
}

// Run runs the command with the program's own streams. The error is a
// [StatusError] if it ran and did not end with 0.
func (c *sandboxRun) Run(ctx context.Context, w *World) error {
	switch {
	case len(c.Command) > 0 && c.Command[0] == "--":
		c.Command = c.Command[1:]
	case len(c.Command) > 0 && strings.HasPrefix(c.Command[0], "-"): // a flag that there is not
		return &flags.UsageError{Message: fmt.Sprintf("unknown flag %s; a command stands behind --", text.EscapeLine(shorten(c.Command[0])))}
	}
	if len(c.Command) == 0 {
		return &flags.UsageError{Message: "no command; gemline sandbox run -- CMD"}
	}
	in, err := w.Project.Confinement()
	if err != nil {
		return err
	}
	if st := in.State(); in.Sandbox == nil || !in.Chosen && !st.Files && !st.Network {
		return &sandbox.Error{Message: "nothing confines commands here: " + cmp.Or(st.Step, "the kernel does not let it"), Advice: "gemline sandbox status says more"}
	}
	if err := missing(c.Command[0]); err != nil {
		return err
	}
	p := in.Profile
	p.Network = p.Network || c.Network
	p.Alone = true
	masks, err := in.Masks()
	if err != nil {
		return err
	}
	for _, m := range masks {
		p.Masked = append(p.Masked, m.Files...)
	}
	for _, dir := range c.Write {
		place := in.Place(dir)
		if _, err := os.Stat(place); errors.Is(err, os.ErrNotExist) {
			return &flags.UsageError{Message: fmt.Sprintf("--write %s: it is not there; only what is there can be opened to a command", shorten(dir))}
		}
		p.Write = append(p.Write, place)
	}
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = w.In, w.Out, w.Err, in.Environ
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	release, err := in.Sandbox.Confine(cmd, p)
	if err == nil {
		defer release()
		err = cmd.Run()
	}
	code := 0
	switch status := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &status):
		code = exitCode(status.ProcessState)
	case err != nil:
		return fmt.Errorf("%s: %w", text.EscapeLine(shorten(c.Command[0])), err)
	}
	if w.JSON {
		said := *w
		said.Out = w.Err
		if err := said.document(map[string]any{"sandbox": shownSandbox(in.State()), "exit_code": code}); err != nil {
			return err
		}
	}
	if code != 0 {
		return &StatusError{Code: code}
	}
	return nil
}

// missing says with a shell's status that program can't be run, if so.
func missing(program string) error {
	_, err := exec.LookPath(program)
	code := 126
	switch {
	case err == nil, errors.Is(err, exec.ErrDot): // which is told in other words
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		code = 127
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner // without the name
	}
	return &StatusError{code, fmt.Errorf("%s: %w", text.EscapeLine(shorten(program)), err)}
}
