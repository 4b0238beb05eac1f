package launch

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/secret"
	"gemline/tools/mask"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A Config is the configuration for the commands of a run.
type Config struct {
	Shell shell.Settings

	Request Request

	Write, Hidden []string // paths that confined commands may write to, and can't read
	Hooks         string   // the user's template of hooks for new repositories
	Temp          string   // directory for temporary files of commands, "" for none
	Caches        string   // directory for caches of commands, "" for none
	Built         string   // what the user's go command has compiled
	Network       bool     // all commands reach the network
	Offline       bool     // no command is given the network
	Cut           bool     // no unconfined command is given the network, either
	Asked         bool     // the network needs approval for each command
}

// A Launcher starts the commands of a run. The zero Launcher confines none.
type Launcher struct {
	Config  Config
	Sandbox sandbox.Sandbox // nil if nothing confines commands

	Jobs  *shell.Jobs     // take over processes that outlive a command; nil ends them
	Roots func() []string // the working directories, the workspace first

	// Before, if not nil, is called before each profile is made.
	Before func()

	// Denied, if not nil, returns the programs to mask for confined commands, and Finder
	// finds them.
	Denied func() []string
	Finder *mask.Finder

	// ProtectedPaths, if not nil, returns further paths that are hidden from confined commands, and
	// paths that are read-only for them.
	ProtectedPaths func() (hidden, readOnly []string)

	// Agreed, if not nil, returns files that the user has approved to run as they are:
	// confined commands can neither write to nor replace them.
	Agreed func() []string

	// FallbackNotice, if not nil, says that the requested sandbox is not available, and that the
	// kernel confines commands in its place.
	FallbackNotice *sandbox.Error

	why   string // the reason if nothing confines commands
	quiet bool   // the user knows the reason
}

// Close closes the sandbox, if it can be closed.
func (l *Launcher) Close() {
	if closer, ok := l.Sandbox.(interface{ Close() error }); ok {
		closer.Close()
	}
}

// State returns the confinement that is in force.
func (l *Launcher) State() sandbox.State {
	if l.Sandbox == nil {
		return sandbox.State{Name: "none", Step: l.why}
	}
	return l.Sandbox.State()
}

// Contained reports whether commands can neither write outside of their directories nor
// reach the network.
func (l *Launcher) Contained() bool { return !l.Config.Network && l.State().Confined() }

// Confines reports whether a sandbox confines commands.
func (l *Launcher) Confines() bool {
	box, _ := l.Sandbox.(withCaches)
	st := l.State()
	return l.Sandbox != nil && (!box.soft || st.Files || st.Network)
}

// Degraded describes the gaps of the confinement, "" if it is complete or the user chose
// less.
func (l *Launcher) Degraded() string {
	switch st := l.State(); {
	case st.Confined() || l.quiet:
		return ""
	case st.Files:
		return fmt.Sprintf("commands are confined in part (%s: %s): they may reach the network; gemline sandbox status says why", st.Name, st.Step)
	default:
		return fmt.Sprintf("commands are not confined (%s): commands that you allow run with all your rights; gemline sandbox status says why", cmp.Or(st.Step, "nothing is in force"))
	}
}

// Profile returns the profile of every confined command.
func (l *Launcher) Profile() sandbox.Profile {
	if l.Before != nil {
		l.Before()
	}
	roots := l.Roots()
	p := sandbox.Profile{Root: roots[0], Write: slices.Concat(roots[1:], l.Config.Write), Network: l.Config.Network, Hooks: l.Config.Hooks}
	if l.Config.Caches != "" {
		p.Write = append(p.Write, l.Config.Caches)
	}
	p.Hidden = sandbox.ExceptGranted(l.Config.Hidden, l.Config.Write, roots)
	if l.ProtectedPaths != nil {
		hidden, readOnly := l.ProtectedPaths()
		p.Hidden, p.ReadOnly = append(p.Hidden, hidden...), append(p.ReadOnly, readOnly...)
	}
	if l.Agreed != nil {
		dirs := lists.Map(slices.Concat(roots, l.Config.Write), disk.ResolveLinks)
		for _, path := range l.Agreed() {
			way := slices.DeleteFunc(disk.Way(path), func(place string) bool { return !disk.InsideAny(dirs, place) })
			p.Kept = append(p.Kept, way...)
			if real := disk.ResolveLinks(path); slices.Contains(way, real) {
				p.ReadOnly = append(p.ReadOnly, real)
			}
		}
		slices.Sort(p.Kept)
		p.Kept = slices.Compact(p.Kept)
		p.Anchored = dirsBetween(dirs, p.Kept)
	}
	p.Anchored = append(p.Anchored, naming(roots, p.Hidden)...)
	if l.Denied != nil {
		for _, m := range l.masks(l.Denied(), p) {
			p.Masked = append(p.Masked, m.Files...)
		}
	}
	return p
}

// dirsBetween returns the directories between roots and paths, parents first.
func dirsBetween(roots, paths []string) (dirs []string) {
	for _, path := range paths {
		for _, root := range roots {
			for dir := filepath.Dir(path); dir != root && disk.Inside(root, dir); dir = filepath.Dir(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// naming returns the directories of roots whose name makes their files secret, such as
// secrets: under another directory name the files would not count as secret.
func naming(roots, hidden []string) (dirs []string) {
	for _, path := range hidden {
		for _, dir := range dirsBetween(roots, []string{path}) {
			if rel, err := filepath.Rel(dir, path); err == nil && !secret.Path(rel) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// missing returns the reasons why layers of a sandbox are not in force.
func missing(st sandbox.State) string {
	var off []string
	for _, l := range st.Layers {
		if !l.On {
			off = append(off, l.Name+": "+l.Why)
		}
	}
	return cmp.Or(strings.Join(off, "; "), st.Step, "nothing is in force")
}

// withCaches is a sandbox whose commands have their own caches.
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

// addCaches gives cmd the caches, and p the files that are seen through them.
func (f withCaches) addCaches(cmd *exec.Cmd, p *sandbox.Profile) {
	dir := "/tmp" // temporary, not stored
	if !p.RunReadOnly {
		if dir = f.caches; dir == "" || os.MkdirAll(dir, 0o700) != nil {
			return
		}
		p.Cache, p.Below = filepath.Join(dir, "go-build"), f.built
	}
	cmd.Env = append(cmd.Environ(), "GOCACHE="+filepath.Join(dir, "go-build"),
		"npm_config_cache="+filepath.Join(dir, "npm"), "PIP_CACHE_DIR="+filepath.Join(dir, "pip"))
}

// Close closes the sandbox, if it can be closed.
func (f withCaches) Close() error {
	if c, ok := f.Sandbox.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// Container returns the container that confines commands, nil if none does.
func (l *Launcher) Container() *sandbox.Container {
	cached, _ := l.Sandbox.(withCaches)
	k, _ := cached.Sandbox.(*sandbox.Container)
	return k
}
