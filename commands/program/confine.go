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
	"sync"
	"sync/atomic"
	"syscall"

	"gemline/commands/cli"
	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/repl"
	"gemline/settings"
	"gemline/tools/gitconfig"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A confinement is what the commands of a run are held by.
type confinement struct {
	sandbox sandbox.Sandbox // nil if nothing holds them
	why     string          // then
	quiet   bool            // whoever runs gemline knows
	granted []string        // what commands may write to besides
	network bool            // and whether they reach the network
	offline bool            // whether none is given it
	asked   bool            // whether none is given it unasked
	tell    func()          // says once, if they are not held in full

	// promised is set when a record has said that commands are confined,
	// before any was. Then none runs that is not.
	promised *atomic.Bool
}

// kernel returns what this system's kernel does to confine commands, nil if
// nothing. It needs a place for their temporary files.
func (s *Options) kernel() sandbox.Sandbox {
	if runtime.GOOS != "linux" {
		return nil
	}
	var o sandbox.Options
	if dir := s.cache(); dir != "" {
		o.Cache = filepath.Join(dir, "tmp")
	}
	return sandbox.New(o)
}

// state says what is in force.
func (p *confinement) state() sandbox.State {
	if p.sandbox == nil {
		return sandbox.State{Name: "none", Step: p.why}
	}
	return p.sandbox.State()
}

// confineBy has commands confined by p.
func (s *Project) confineBy(p *confinement) {
	s.confinement = p
	s.status.confinement.Store(p)
	s.teller(p)
	s.leave(p)
	if p.sandbox == nil { // else that is asked when there is a command, which takes a moment
		p.tell()
	}
}

// teller has p say once, if commands are not held in full.
func (s *Project) teller(p *confinement) {
	p.tell = sync.OnceFunc(func() {
		st := p.state()
		switch {
		case st.Confined() || p.quiet:
		case p.sandbox == nil && !s.paths.Once("sandbox-told-"+runtime.GOOS):
		case st.Files:
			s.notify(fmt.Sprintf("commands are confined in part (%s: %s): they may reach the network; gemline sandbox status says why", st.Name, st.Step))
		default:
			s.notify(fmt.Sprintf("commands are not confined (%s): those that you allow run with all your rights; gemline sandbox status says why", cmp.Or(st.Step, "nothing is in force")))
		}
	})
}

// chooseConfinement finds out what confines commands. Where that was asked for and
// can't be had there is an error; where it is the default, commands run with
// what there is of it.
func (o *Options) chooseConfinement() (*confinement, error) {
	if o.unread != nil {
		return nil, o.unread
	}
	c, err := o.settings.Confinement(o.own, o.flags, o.lookup)
	if wrong := (*settings.ConfinementError)(nil); errors.As(err, &wrong) {
		o.warnings = slices.DeleteFunc(o.warnings, func(w string) bool { return w == wrong.Error() }) // it says the same
		return nil, &sandbox.Error{Message: wrong.Error(), Hint: "there are: on, off, " + strings.Join(sandbox.Names(), ", ") + "; gemline --sandbox=NAME overrides the settings"}
	}
	if err != nil {
		return nil, err
	}
	p, err := o.chooseSandbox(c)
	if err != nil {
		return nil, err
	}
	p.network, p.offline, p.asked = c.Network, c.Offline, c.Asked
	for _, path := range c.Paths {
		p.granted = append(p.granted, o.place(path))
	}
	return p, nil
}

// chooseSandbox finds what c asks for.
func (o *Options) chooseSandbox(c settings.Confinement) (*confinement, error) {
	if inside := o.os.getenv("SANDBOX"); inside != "" {
		return &confinement{why: "gemline itself runs in a sandbox: " + inside, quiet: true}, nil
	}
	kernel := o.kernel()
	switch {
	case c.Word == settings.Off:
		return &confinement{why: "switched off by " + c.By, quiet: true}, nil
	case c.Word == "" && kernel == nil:
		return &confinement{why: "on " + runtime.GOOS + " only gemline --sandbox confines commands"}, nil
	case c.Word == "":
		return o.newConfinement(kernel, true), nil
	}
	choice, err := o.choice(c, kernel)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Choose(choice)
	if err != nil {
		return nil, err
	}
	less := len(choice.Extras.Flags) > 0 || choice.Extras.Profile != "" // as the user says
	if st := box.State(); !st.Confined() && !less {
		return nil, &sandbox.Error{Message: fmt.Sprintf("%s: commands can't be confined by %s: %s", c.By, st.Name, missing(st)),
			Hint: "gemline sandbox status says more; gemline --sandbox=off runs commands without"}
	}
	return o.newConfinement(box, false), nil
}

// leave has p let go of what it has left when the run is over.
func (s *Project) leave(p *confinement) {
	if closer, ok := p.sandbox.(interface{ Close() error }); ok {
		s.closers = append(s.closers, func() { closer.Close() })
	}
}

// choice is what Choose chooses from.
func (o *Options) choice(c settings.Confinement, kernel sandbox.Sandbox) (sandbox.Choice, error) {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	user := ""
	if runtime.GOOS == "linux" {
		user = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	by := c.By
	if c.File != "" {
		by = "tools.sandbox in " + settings.EscapeLine(c.File)
	}
	choice := sandbox.Choice{Word: c.Word, By: by, GOOS: runtime.GOOS, Kernel: kernel, Getenv: o.getenv, Exists: exists, Environ: shell.Own(o.os.Environ()), Image: c.Image}
	if o.trust.State == settings.Trusted && !o.paths.AtHome() {
		choice.Seatbelt = append(choice.Seatbelt, o.paths.Workspace())
		choice.Project = o.paths.Folder("")
	}
	if o.paths.Home != "" {
		choice.Seatbelt = append(choice.Seatbelt, o.paths.User())
	}
	var err error
	choice.Extras, err = sandbox.ReadExtras(o.getenv, o.hidden(), user, exists)
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

// profile says what the commands of this run may do.
func (p *Project) profile() sandbox.Profile {
	if p.confinement.tell != nil {
		p.confinement.tell()
	}
	roots := p.workspace.Roots()
	return p.rights(roots[0], roots[1:])
}

// rights returns what commands may do that work in root and in more.
func (p *Project) rights(root string, more []string) sandbox.Profile {
	profile := sandbox.Profile{Root: root, Write: slices.Concat(more, p.confinement.granted), Network: p.confinement.network}
	if dir := p.caches(); dir != "" {
		profile.Write = append(profile.Write, dir)
	}
	profile.Hidden = sandbox.Except(p.hidden(), p.confinement.granted, append([]string{root}, more...))
	profile.Hooks = p.hooks()
	return profile
}

// hooks returns where the user keeps what git makes hooks of new repositories.
func (o *Options) hooks() (dir string) {
	home := o.paths.Home
	if home == "" {
		return "" // what lies here may be the project's
	}
	for _, file := range []string{filepath.Join(cmp.Or(o.os.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git/config"), filepath.Join(home, ".gitconfig")} {
		text, _ := os.ReadFile(file)
		dir = cmp.Or(gitconfig.Hooks(string(text), home), dir)
	}
	return dir
}

// hidden returns what commands can't read.
func (o *Options) hidden() []string {
	list := secret.Files(o.paths.Home, o.paths.User(), o.os.getenv)
	for _, path := range []string{o.flags.KeyFile, o.getenv("GOOGLE_APPLICATION_CREDENTIALS")} {
		if path != "" {
			list = append(list, o.place(path))
		}
	}
	return list
}

// keptSecret returns what may hold secrets, also where the home directory leads.
func (o *Options) keptSecret() []string {
	list := o.hidden()
	if real := disk.Follow(o.paths.Home); real != o.paths.Home {
		list = append(list, secret.Files(real, "", func(string) string { return "" })...)
	}
	return list
}

// caches returns the directory of the caches that confined commands of this
// directory have, "" if there is no place for it. They are not those of the
// user: what a command puts into a cache is run by whoever takes it out.
func (o *Options) caches() string {
	dir := o.cache()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, settings.Hash(o.paths.Folder("")))
}

// cache returns gemline's directory among the user's caches, "" if there is no
// place for it.
func (o *Options) cache() string {
	base := o.userCaches()
	if base == "" {
		return ""
	}
	return filepath.Join(base, "gemline")
}

// goCache returns where the user's go command keeps what it has compiled, ""
// if there is no place for it.
func (o *Options) goCache() string {
	if dir := o.os.getenv("GOCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	base := o.userCaches()
	if base == "" {
		return ""
	}
	return filepath.Join(base, "go-build")
}

// userCaches returns the directory of the user's caches, "" if there is none.
func (o *Options) userCaches() string {
	base := o.os.getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		if o.paths.Home == "" {
			return ""
		}
		base = filepath.Join(o.paths.Home, ".cache")
	}
	return base
}

// newConfinement returns a confinement by box whose commands have caches of their
// own. A soft one is the default: where nothing of it is in force, commands run
// without.
func (o *Options) newConfinement(box sandbox.Sandbox, soft bool) *confinement {
	promised := &atomic.Bool{}
	return &confinement{sandbox: withCaches{box, soft, promised, o.caches(), o.goCache()}, promised: promised}
}

type withCaches struct {
	sandbox.Sandbox
	soft     bool
	promised *atomic.Bool
	caches   string
	built    string // what the user's go command has compiled
}

// least says what is in force at the least, which takes less time to find out.
func (f withCaches) least() sandbox.State {
	if k, ok := f.Sandbox.(*sandbox.Kernel); ok {
		return k.Least()
	}
	return f.State()
}

// Confine implements [sandbox.Sandbox].
func (f withCaches) Confine(cmd *exec.Cmd, p sandbox.Profile) (func(), error) {
	if free, err := f.addCaches(cmd, &p); free || err != nil {
		return func() {}, err
	}
	return f.Sandbox.Confine(cmd, p)
}

// Start implements [sandbox.Starter].
func (f withCaches) Start(cmd *exec.Cmd, p sandbox.Profile) (<-chan syscall.WaitStatus, error) {
	free, err := f.addCaches(cmd, &p)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the command can't be confined: %w", err)
	case free:
		return nil, cmd.Start()
	}
	return sandbox.Start(f.Sandbox, cmd, p)
}

// addCaches gives cmd the caches, and p what is seen through them. It reports
// whether cmd runs as it is.
func (f withCaches) addCaches(cmd *exec.Cmd, p *sandbox.Profile) (free bool, err error) {
	switch st := f.State(); {
	case f.promised.Load() && !st.Confined():
		return false, fmt.Errorf("this run began confined, and now %s; gemline sandbox status says more", missing(st))
	case f.soft && !st.Files && !st.Network:
		return true, nil
	}
	if f.caches != "" && os.MkdirAll(f.caches, 0o700) == nil {
		p.Cache, p.Below = filepath.Join(f.caches, "go-build"), f.built
		cmd.Env = append(cmd.Environ(), "GOCACHE="+p.Cache,
			"npm_config_cache="+filepath.Join(f.caches, "npm"), "PIP_CACHE_DIR="+filepath.Join(f.caches, "pip"))
	}
	return false, nil
}

// Close lets go of what the sandbox has left.
func (f withCaches) Close() error {
	if c, ok := f.Sandbox.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// record returns what confines commands, for a record: what is certain before
// commands have run, and afterwards what was in force.
func (p *confinement) record() *repl.Sandbox {
	if f, ok := p.sandbox.(withCaches); ok {
		return p.told(f.least())
	}
	return p.told(p.state())
}

// told returns st as a record has it, which is as good as a promise.
func (p *confinement) told(st sandbox.State) *repl.Sandbox {
	if p.promised != nil && st.Confined() {
		p.promised.Store(true)
	}
	return &repl.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
}

// confinementInfo is what the sub-commands about it go by.
func (p *Project) confinementInfo() cli.Confinement {
	box, _ := p.confinement.sandbox.(withCaches)
	return cli.Confinement{Sandbox: p.confinement.sandbox, Chosen: !box.soft, State: p.confinement.state, Profile: p.rights(p.paths.Folder(""), nil), Place: p.place,
		Environ: shell.Inherited(p.os.Environ(), shell.Settings{Reveal: !p.settings.Redact, Allowed: p.settings.AllowedVars, Blocked: p.settings.BlockedVars})}
}
