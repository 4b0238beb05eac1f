package program

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gemline/commands/cli"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/report"
	"gemline/settings"
	"gemline/settings/trust"
	"gemline/tools/mask"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A confinement is what the commands of a run are held by, and to what.
type confinement struct {
	sandbox sandbox.Sandbox // nil if nothing holds them
	why     string          // then
	quiet   bool            // whoever runs gemline knows
	granted []string        // what commands may write to besides
	network bool            // all commands reach the network
	offline bool            // no command is given the network
	asked   bool            // no command is given the network without a question
	places  places
	finder  *mask.Finder // of programs that rules deny
}

// newConfinement returns a confinement by box whose commands have caches of their
// own. A soft one is the default: where nothing of it is in force, commands run
// without.
func newConfinement(box sandbox.Sandbox, soft bool, at places) *confinement {
	return &confinement{sandbox: withCaches{box, soft, at.caches(), at.goCache()}}
}

// Close lets go of what the sandbox has left.
func (c *confinement) Close() {
	if closer, ok := c.sandbox.(interface{ Close() error }); ok {
		closer.Close()
	}
}

// state says what is in force.
func (c *confinement) state() sandbox.State {
	if c.sandbox == nil {
		return sandbox.State{Name: "none", Step: c.why}
	}
	return c.sandbox.State()
}

// contained reports whether commands are kept from writing elsewhere and from the
// network.
func (c *confinement) contained() bool { return !c.network && c.state().Confined() }

// shortfall says what commands are not kept from, "" if nothing or if whoever runs
// gemline knows.
func (c *confinement) shortfall() string {
	switch st := c.state(); {
	case st.Confined() || c.quiet:
		return ""
	case st.Files:
		return fmt.Sprintf("commands are confined in part (%s: %s): they may reach the network; gemline sandbox status says why", st.Name, st.Step)
	default:
		return fmt.Sprintf("commands are not confined (%s): those that you allow run with all your rights; gemline sandbox status says why", cmp.Or(st.Step, "nothing is in force"))
	}
}

// profile returns what commands may do that work in root and in more.
func (c *confinement) profile(root string, more []string) sandbox.Profile {
	p := sandbox.Profile{Root: root, Write: slices.Concat(more, c.granted), Network: c.network, Hooks: c.places.hooks()}
	if dir := c.places.caches(); dir != "" {
		p.Write = append(p.Write, dir)
	}
	p.Hidden = sandbox.Except(c.places.hidden(), c.granted, append([]string{root}, more...))
	return p
}

// record returns what confines commands, for a record.
func (c *confinement) record() *report.Sandbox {
	st := c.state()
	return &report.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
}

// describe returns what the sub-commands about it go by. Commands are given
// environ, and judged by what policy returns.
func (c *confinement) describe(environ []string, policy func() (*policy.Policy, error)) cli.Confinement {
	box, _ := c.sandbox.(withCaches)
	in := cli.Confinement{Sandbox: c.sandbox, Chosen: !box.soft, State: c.state,
		Profile: c.profile(c.places.Folder(""), nil), Place: c.places.place, Environ: environ}
	in.Masks = func() ([]cli.Mask, error) {
		p, err := policy()
		if err != nil {
			return nil, err
		}
		list := []cli.Mask{}
		for _, m := range c.masks(p.Denied(), in.Profile) {
			list = append(list, cli.Mask{Program: m.Program, Files: append([]string{}, m.Files...), Others: append([]string{}, c.finder.Others(m)...), Left: m.Left})
		}
		return list, nil
	}
	return in
}

// chooseConfinement finds out what confines commands. Where that was asked for and
// can't be had there is an error; where it is the default, commands run with
// what there is of it.
func chooseConfinement(o *Options) (*confinement, error) {
	if o.loadError != nil {
		return nil, o.loadError
	}
	s, err := o.settings.Confinement(o.userSettings, o.flags, o.lookup)
	if wrong := (*settings.ConfinementError)(nil); errors.As(err, &wrong) {
		o.warnings = slices.DeleteFunc(o.warnings, func(w string) bool { return w == wrong.Error() }) // it says the same
		return nil, &sandbox.Error{Message: wrong.Error(), Advice: "there are: on, off, " + strings.Join(sandbox.Names(), ", ") + "; gemline --sandbox=NAME overrides the settings"}
	}
	if err != nil {
		return nil, err
	}
	c, err := chooseSandbox(o, s)
	if err != nil {
		return nil, err
	}
	c.finder = &mask.Finder{Path: o.os.getenv("PATH"), Home: o.paths.Home}
	c.places, c.network, c.offline, c.asked = o.places(), s.Network, s.Offline, s.Asked
	for _, path := range s.Paths {
		c.granted = append(c.granted, c.places.place(path))
	}
	return c, nil
}

// chooseSandbox finds what s asks for.
func chooseSandbox(o *Options, s settings.Confinement) (*confinement, error) {
	if inside := o.os.getenv("SANDBOX"); inside != "" {
		return &confinement{why: "gemline itself runs in a sandbox: " + inside, quiet: true}, nil
	}
	at := o.places()
	kernel := kernelSandbox(at)
	switch {
	case s.Word == settings.Off:
		return &confinement{why: "switched off by " + s.By, quiet: true}, nil
	case s.Word == "" && kernel == nil:
		return &confinement{why: "on " + runtime.GOOS + " only gemline --sandbox confines commands"}, nil
	case s.Word == "":
		return newConfinement(kernel, true, at), nil
	}
	choice, err := sandboxChoice(o, s, kernel)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Choose(choice)
	if err != nil {
		return nil, err
	}
	less := len(choice.Extras.Flags) > 0 || choice.Extras.Profile != "" // as the user says
	if st := box.State(); !st.Confined() && !less {
		return nil, &sandbox.Error{Message: fmt.Sprintf("%s: commands can't be confined by %s: %s", s.By, st.Name, missing(st)),
			Advice: "gemline sandbox status says more; gemline --sandbox=off runs commands without"}
	}
	return newConfinement(box, false, at), nil
}

// kernelSandbox returns what this system's kernel does to confine commands, nil if
// nothing. It needs a place for their temporary files.
func kernelSandbox(at places) sandbox.Sandbox {
	if runtime.GOOS != "linux" {
		return nil
	}
	var o sandbox.Options
	if dir := at.cache(); dir != "" {
		o.Cache = filepath.Join(dir, "tmp")
	}
	return sandbox.New(o)
}

// sandboxChoice is what [sandbox.Choose] chooses from.
func sandboxChoice(o *Options, s settings.Confinement, kernel sandbox.Sandbox) (sandbox.Choice, error) {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	user := ""
	if runtime.GOOS == "linux" {
		user = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	by := s.By
	if s.File != "" {
		by = "tools.sandbox in " + text.EscapeLine(s.File)
	}
	choice := sandbox.Choice{Word: s.Word, By: by, GOOS: runtime.GOOS, Kernel: kernel, Getenv: o.getenv, Exists: exists, Environ: shell.Own(o.os.Environ()), Image: s.Image}
	if o.trust.State == trust.Trusted && !o.paths.AtHome() {
		choice.Seatbelt = append(choice.Seatbelt, o.paths.Workspace())
		choice.Project = o.paths.Folder("")
	}
	if o.paths.Home != "" {
		choice.Seatbelt = append(choice.Seatbelt, o.paths.User())
	}
	var err error
	choice.Extras, err = sandbox.ReadExtras(o.getenv, o.places().hidden(), user, exists)
	return choice, err
}

// missing says what keeps a sandbox from what it should do.
func missing(st sandbox.State) string {
	var off []string
	for _, l := range st.Layers {
		if !l.On {
			off = append(off, l.Name+": "+l.Why)
		}
	}
	return cmp.Or(strings.Join(off, "; "), st.Step, "nothing is in force")
}

// withCaches is a sandbox whose commands have caches of their own.
type withCaches struct {
	sandbox.Sandbox
	soft   bool
	caches string
	built  string // what the user's go command has compiled
}

// Confine implements [sandbox.Sandbox].
func (f withCaches) Confine(cmd *exec.Cmd, p sandbox.Profile) (func(), error) {
	if st := f.State(); f.soft && !st.Files && !st.Network {
		return func() {}, nil
	}
	f.addCaches(cmd, &p)
	return f.Sandbox.Confine(cmd, p)
}

// addCaches gives cmd the caches, and p what is seen through them.
func (f withCaches) addCaches(cmd *exec.Cmd, p *sandbox.Profile) {
	if p.Look { // which keeps nothing
		cmd.Env = append(cmd.Environ(), "GOCACHE=/tmp/go-build", "npm_config_cache=/tmp/npm", "PIP_CACHE_DIR=/tmp/pip")
		return
	}
	if f.caches != "" && os.MkdirAll(f.caches, 0o700) == nil {
		p.Cache, p.Below = filepath.Join(f.caches, "go-build"), f.built
		cmd.Env = append(cmd.Environ(), "GOCACHE="+p.Cache,
			"npm_config_cache="+filepath.Join(f.caches, "npm"), "PIP_CACHE_DIR="+filepath.Join(f.caches, "pip"))
	}
}

// Close lets go of what the sandbox has left.
func (f withCaches) Close() error {
	if c, ok := f.Sandbox.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}
