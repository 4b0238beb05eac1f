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
	"gemline/engine/secret"
	"gemline/repl"
	"gemline/settings"
	"gemline/tools/gitconfig"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A pen is what the commands of a run are held by.
type pen struct {
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
func (s *session) kernel() sandbox.Sandbox {
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
func (p *pen) state() sandbox.State {
	if p.sandbox == nil {
		return sandbox.State{Name: "none", Step: p.why}
	}
	return p.sandbox.State()
}

// enclose has commands confined by p.
func (s *session) enclose(p *pen) {
	s.pen = p
	s.teller(p)
	s.leave(p)
	if p.sandbox == nil { // else that is asked when there is a command, which takes a moment
		p.tell()
	}
}

// teller has p say once, if commands are not held in full.
func (s *session) teller(p *pen) {
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

// enclosure finds out what confines commands. Where that was asked for and
// can't be had there is an error; where it is the default, commands run with
// what there is of it.
func (s *session) enclosure() (*pen, error) {
	if s.unread != nil {
		return nil, s.unread
	}
	c, err := s.settings.Confinement(s.own, s.flags, s.lookup)
	if wrong := (*settings.ConfinementError)(nil); errors.As(err, &wrong) {
		s.warnings = slices.DeleteFunc(s.warnings, func(w string) bool { return w == wrong.Error() }) // it says the same
		return nil, &sandbox.Error{Message: wrong.Error(), Hint: "there are: on, off, " + strings.Join(sandbox.Names(), ", ") + "; gemline --sandbox=NAME goes by no setting"}
	}
	if err != nil {
		return nil, err
	}
	p, err := s.penned(c)
	if err != nil {
		return nil, err
	}
	p.network, p.offline, p.asked = c.Network, c.Offline, c.Asked
	for _, path := range c.Paths {
		p.granted = append(p.granted, s.place(path))
	}
	return p, nil
}

// penned finds what c asks for.
func (s *session) penned(c settings.Confinement) (*pen, error) {
	if inside := s.os.getenv("SANDBOX"); inside != "" {
		return &pen{why: "gemline itself runs in a sandbox: " + inside, quiet: true}, nil
	}
	kernel := s.kernel()
	switch {
	case c.Word == settings.Off:
		return &pen{why: "switched off by " + c.By, quiet: true}, nil
	case c.Word == "" && kernel == nil:
		return &pen{why: "nothing does it on " + runtime.GOOS + " unless it is asked for: gemline --sandbox"}, nil
	case c.Word == "":
		return s.furnished(kernel, true), nil
	}
	choice, err := s.choice(c, kernel)
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
	return s.furnished(box, false), nil
}

// leave has p let go of what it has left when the run is over.
func (s *session) leave(p *pen) {
	if closer, ok := p.sandbox.(interface{ Close() error }); ok {
		s.closers = append(s.closers, func() { closer.Close() })
	}
}

// choice is what Choose chooses from.
func (s *session) choice(c settings.Confinement, kernel sandbox.Sandbox) (sandbox.Choice, error) {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	user := ""
	if runtime.GOOS == "linux" {
		user = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	by := c.By
	if c.File != "" {
		by = "tools.sandbox in " + settings.EscapeLine(c.File)
	}
	choice := sandbox.Choice{Word: c.Word, By: by, GOOS: runtime.GOOS, Kernel: kernel, Getenv: s.getenv, Exists: exists, Environ: shell.Own(s.os.Environ()), Image: c.Image}
	if s.trust.State == settings.Trusted && !s.paths.AtHome() {
		choice.Seatbelt = append(choice.Seatbelt, s.paths.Workspace())
		choice.Project = s.paths.Folder("")
	}
	if s.paths.Home != "" {
		choice.Seatbelt = append(choice.Seatbelt, s.paths.User())
	}
	var err error
	choice.Extras, err = sandbox.ReadExtras(s.getenv, s.hidden(), user, exists)
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
func (s *session) profile() sandbox.Profile {
	if s.pen.tell != nil {
		s.pen.tell()
	}
	roots := s.workspace.Roots()
	return s.rights(roots[0], roots[1:])
}

// rights returns what commands may do that work in root and in more.
func (s *session) rights(root string, more []string) sandbox.Profile {
	p := sandbox.Profile{Root: root, Write: append([]string{}, more...)}
	var granted []string
	if s.pen != nil {
		p.Network, granted = s.pen.network, s.pen.granted
	}
	p.Write = append(p.Write, granted...)
	if dir := s.caches(); dir != "" {
		p.Write = append(p.Write, dir)
	}
	p.Hidden = sandbox.Except(s.hidden(), granted, append([]string{root}, more...))
	p.Hooks = s.hooks()
	return p
}

// hooks returns where the user keeps what git makes hooks of new repositories.
func (s *session) hooks() (dir string) {
	home := s.paths.Home
	for _, file := range []string{filepath.Join(cmp.Or(s.os.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git/config"), filepath.Join(home, ".gitconfig")} {
		text, _ := os.ReadFile(file)
		dir = cmp.Or(gitconfig.Hooks(string(text), home), dir)
	}
	return dir
}

// hidden returns what commands can't read.
func (s *session) hidden() []string {
	list := secret.Files(s.paths.Home, s.paths.User(), s.os.getenv)
	for _, path := range []string{s.flags.KeyFile, s.getenv("GOOGLE_APPLICATION_CREDENTIALS")} {
		if path != "" {
			list = append(list, s.place(path))
		}
	}
	return list
}

// keptSecret returns what may hold secrets, also where the home directory leads.
func (s *session) keptSecret() []string {
	list := s.hidden()
	if real, err := filepath.EvalSymlinks(s.paths.Home); err == nil && real != s.paths.Home {
		list = append(list, secret.Files(real, "", func(string) string { return "" })...)
	}
	return list
}

// caches returns the directory of the caches that confined commands of this
// directory have, "" if there is no place for it. They are not those of the
// user: what a command puts into a cache is run by whoever takes it out.
func (s *session) caches() string {
	dir := s.cache()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, settings.Hash(s.paths.Folder("")))
}

// cache returns gemline's directory among the user's caches, "" if there is no
// place for it.
func (s *session) cache() string {
	base := s.userCaches()
	if base == "" {
		return ""
	}
	return filepath.Join(base, "gemline")
}

// goCache returns where the user's go command keeps what it has compiled, ""
// if there is no place for it.
func (s *session) goCache() string {
	if dir := s.os.getenv("GOCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	base := s.userCaches()
	if base == "" {
		return ""
	}
	return filepath.Join(base, "go-build")
}

// userCaches returns the directory of the user's caches, "" if there is none.
func (s *session) userCaches() string {
	base := s.os.getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		if s.paths.Home == "" {
			return ""
		}
		base = filepath.Join(s.paths.Home, ".cache")
	}
	return base
}

// furnished returns a pen whose commands have caches of their own. One that is
// soft is the default: where nothing of it is in force, commands run without.
func (s *session) furnished(box sandbox.Sandbox, soft bool) *pen {
	promised := &atomic.Bool{}
	return &pen{sandbox: furnished{box, soft, promised, s.caches(), s.goCache()}, promised: promised}
}

type furnished struct {
	sandbox.Sandbox
	soft     bool
	promised *atomic.Bool
	caches   string
	built    string // what the user's go command has compiled
}

// least says what is in force at the least, which takes less time to find out.
func (f furnished) least() sandbox.State {
	if k, ok := f.Sandbox.(*sandbox.Kernel); ok {
		return k.Least()
	}
	return f.State()
}

// Confine implements [sandbox.Sandbox].
func (f furnished) Confine(cmd *exec.Cmd, p sandbox.Profile) (func(), error) {
	if free, err := f.furnish(cmd, &p); free || err != nil {
		return func() {}, err
	}
	return f.Sandbox.Confine(cmd, p)
}

// Start implements [sandbox.Starter].
func (f furnished) Start(cmd *exec.Cmd, p sandbox.Profile) (<-chan syscall.WaitStatus, error) {
	free, err := f.furnish(cmd, &p)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the command can't be confined: %w", err)
	case free:
		return nil, cmd.Start()
	}
	return sandbox.Start(f.Sandbox, cmd, p)
}

// furnish gives cmd the caches, and p what is seen through them. It reports
// whether cmd runs as it is.
func (f furnished) furnish(cmd *exec.Cmd, p *sandbox.Profile) (free bool, err error) {
	switch st := f.State(); {
	case f.promised.Load() && !st.Confined():
		return false, fmt.Errorf("the record of this run says that it is, and %s; gemline sandbox status says more", missing(st))
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
func (f furnished) Close() error {
	if c, ok := f.Sandbox.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// held returns the state for a record: what is certain before commands have
// run, and afterwards what was in force.
func (s *session) held() *repl.Sandbox {
	if s.pen == nil {
		return nil
	}
	st := s.pen.state
	if f, ok := s.pen.sandbox.(furnished); ok {
		st = f.least
	}
	return s.pen.told(st())
}

// told returns st as a record has it, which is as good as a promise.
func (p *pen) told(st sandbox.State) *repl.Sandbox {
	if p.promised != nil && st.Confined() {
		p.promised.Store(true)
	}
	return &repl.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
}

// confinement is what the sub-commands about it go by.
func (s *session) confinement() (cli.Confinement, error) {
	if s.pen == nil {
		p, err := s.enclosure()
		if err != nil {
			return cli.Confinement{}, err
		}
		s.leave(p)
		s.pen = p
	}
	box, _ := s.pen.sandbox.(furnished)
	return cli.Confinement{Sandbox: s.pen.sandbox, Chosen: !box.soft, State: s.pen.state, Profile: s.rights(s.paths.Folder(""), nil), Place: s.place,
		Environ: shell.Inherited(s.os.Environ(), shell.Settings{Reveal: !s.settings.Redact, Allowed: s.settings.AllowedVars, Blocked: s.settings.BlockedVars})}, nil
}
