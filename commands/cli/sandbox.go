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

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/mask"
	"gemline/tools/sandbox"
)

// sandboxCommand is gemline sandbox.
type sandboxCommand struct {
	Status sandboxStatus `cmd:"" default:"withargs" help:"Say how commands are confined, and what they may do."`
	Run    sandboxRun    `cmd:"" help:"Run a command as the model's are run: confined."`
}

// A maskRecord describes a program that rules deny: its hidden files, and why a command may still
// run it.
type maskRecord struct {
	Program string   `json:"program"`
	Files   []string `json:"files"`  // hidden from commands
	Others  []string `json:"others"` // other names of the same files, also hidden
	Left    string   `json:"left"`   // why a command may still run it, "" if none can
}

// line lists the masked files of m.
func (m maskRecord) line() string {
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

// masks returns the masked programs.
func masks(rules *policy.Policy, l *launch.Launcher) []maskRecord {
	return lists.Map(l.Masks(policy.DeniedPrograms(rules.Denied())), func(m mask.Mask) maskRecord {
		return maskRecord{Program: m.Program, Files: append([]string{}, m.Files...),
			Others: append([]string{}, l.Finder.Others(m)...), Left: m.WhyRunnable}
	})
}

// A StatusError is the exit status of a command that gemline ran for the user. It is printed only
// if the command could not run.
type StatusError struct {
	Code int
	Err  error // why it did not run, nil if it did
}

// Error names the status, or the error that kept the command from running.
func (e *StatusError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("status %d", e.Code)
}

// A shownState is the sandbox in --json.
type shownState struct {
	Name     string          `json:"name"`
	Step     string          `json:"step"`
	Confined bool            `json:"confined"`
	Files    bool            `json:"files"`
	Network  bool            `json:"network"`
	Layers   []sandbox.Layer `json:"layers"`
}

type shownProfile struct {
	Root     string   `json:"root"`
	Write    []string `json:"write"`
	ReadOnly []string `json:"read_only"`
	Hidden   []string `json:"hidden"`
	Network  bool     `json:"network"`
}

func shownSandbox(st sandbox.State) shownState {
	return shownState{Name: st.Name, Step: st.Step, Confined: st.Confined(), Files: st.Files, Network: st.Network,
		Layers: append([]sandbox.Layer{}, st.Layers...)}
}

// ProvideLauncher returns the launcher that confines commands. It notifies the user if the
// requested sandbox is not available.
func (*sandboxCommand) ProvideLauncher(out *Output, project Project) (*launch.Launcher, error) {
	l, err := project.Launcher()
	if err == nil && l.FallbackNotice != nil {
		out.Notify(l.FallbackNotice.Message)
	}
	return l, err
}

type sandboxStatus struct{}

// Run prints the active sandbox.
func (*sandboxStatus) Run(out *Output, l *launch.Launcher, rules *policy.Policy) error {
	st, p := l.State(), l.Profile()
	yes := map[bool]string{true: "yes", false: "no"}
	lines := []string{
		fmt.Sprintf("%s: %s", st.Name, cmp.Or(st.Step, "nothing is in force")),
		"commands can't write elsewhere: " + yes[st.Files],
		"commands have no network: " + yes[st.Network && !p.Network],
	}
	for _, l := range st.Layers {
		lines = append(lines, fmt.Sprintf("  %-3s  %s: %s",
			map[bool]string{true: "on", false: "off"}[l.On], l.Name, l.Why))
	}
	if l.Sandbox != nil {
		lines = append(lines, "commands write to: "+strings.Join(append([]string{p.Root}, p.Write...), ", "),
			"and can't read: "+cmp.Or(strings.Join(slices.DeleteFunc(slices.Clone(p.Hidden),
				notThere), ", "), "nothing of yours, since no known secrets are here"))
	}
	denied := masks(rules, l)
	lines = append(lines, lists.Map(denied, maskRecord.line)...)
	list := func(paths []string) []string { return append([]string{}, paths...) }
	return out.show(map[string]any{"sandbox": shownSandbox(st), "masked": denied,
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

// Run runs the command with the program's own streams. The error is a [StatusError] if the command
// ran and its status is not 0.
func (c *sandboxRun) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, project Project, l *launch.Launcher) error {
	switch {
	case len(c.Command) > 0 && c.Command[0] == "--":
		c.Command = c.Command[1:]
	case len(c.Command) > 0 && strings.HasPrefix(c.Command[0], "-"): // an unknown flag
		return misused("unknown flag %s; a command stands behind --",
			text.PrintableLine(shorten(c.Command[0])))
	}
	if len(c.Command) == 0 {
		return misused("no command; gemline sandbox run -- CMD")
	}
	if !l.Confines() {
		return &sandbox.Error{Message: "nothing confines commands here: " +
			cmp.Or(l.State().Step, "the kernel does not let it"), Advice: "gemline sandbox status says more"}
	}
	if err := missing(c.Command[0]); err != nil {
		return err
	}
	cmd := launch.Command{Argv: c.Command, Rights: engine.Rights{Network: c.Network}, KillLeftovers: true, Vars: launch.Usual}
	for _, dir := range c.Write {
		place := disk.Absolute(dir, here.Paths.Cwd, here.Paths.Home)
		if _, err := os.Stat(place); errors.Is(err, os.ErrNotExist) {
			return misused("--write %s: it is not there; only existing files can be opened to a command", shorten(dir))
		}
		cmd.Rights.Write = append(cmd.Rights.Write, place)
	}
	rules, err := project.Rules()
	if err != nil {
		return err
	}
	at := *l
	at.Denied = func() []string { return policy.DeniedPrograms(rules.Denied()) }
	err = at.Attach(ctx, cmd, launch.Streams{In: ask.In, Out: out.Out, Err: out.Err})
	code := 0
	switch status := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &status):
		code = exitCode(status.ProcessState)
	case err != nil:
		return fmt.Errorf("%s: %w", text.PrintableLine(shorten(c.Command[0])), err)
	}
	if out.JSON {
		if err := out.beside().document(map[string]any{"sandbox": shownSandbox(l.State()),
			"exit_code": code}); err != nil {
			return err
		}
	}
	if code != 0 {
		return &StatusError{Code: code}
	}
	return nil
}

// missing returns an error with a shell's status if a program can't run.
func missing(program string) error {
	_, err := exec.LookPath(program)
	code := 126
	switch {
	case err == nil, errors.Is(err, exec.ErrDot): // another message reports it
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		code = 127
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner // without the name
	}
	return &StatusError{code, fmt.Errorf("%s: %w", text.PrintableLine(shorten(program)), err)}
}
