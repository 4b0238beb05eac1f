package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"gemline/engine/disk"
	"gemline/tools/sandbox/stage"
)

// A Kernel confines commands by what Linux has for it.
type Kernel struct {
	options Options

	helper    sync.Once
	program   *os.File // the helper, in memory; nil if this program is the helper
	path      string   // of this program
	helperErr error    // why the helper is missing

	probe  sync.Once
	layers []string // in force
	state  State

	loopback loopback

	mu    sync.Mutex
	temp  *temp          // the temporary directory of commands; created when needed
	sweep sync.WaitGroup // removes temporary directories of ended processes
}

// New returns the confinement by this system's kernel.
func New(o Options) *Kernel { return &Kernel{options: o} }

// Close removes the temporary directory, which all commands of a Kernel share.
func (k *Kernel) Close() error {
	k.loopback.close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sweep.Wait()
	t := k.temp
	k.temp = nil
	if t == nil {
		return nil
	}
	return t.remove()
}

// Confine makes cmd run confined by p.
func (k *Kernel) Confine(cmd *exec.Cmd, p Profile) (release func(), err error) {
	k.State()
	if len(k.layers) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, k.state.Step)
	}
	spec, err := k.spec(p)
	if err != nil {
		return nil, err
	}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	spec.Path, spec.Extra, spec.Layers = cmd.Path, len(cmd.ExtraFiles), k.layers
	var files []*os.File
	if p.Loopback && k.state.Loopback && !p.RunReadOnly && !p.Network {
		if files, err = k.shared(); err != nil {
			return nil, err
		}
		spec.Joined = true
	}
	return k.stage(cmd, spec, files...)
}

// stage makes cmd start the first stage, which gets more files.
func (k *Kernel) stage(cmd *exec.Cmd, spec *stage.Spec, more ...*os.File) (release func(), err error) {
	k.helper.Do(k.load)
	if k.helperErr != nil {
		return nil, k.helperErr
	}
	file, err := memory("sandbox", spec.Encode(), false)
	if err != nil {
		return nil, fmt.Errorf("tell the helper what to do: %w", err)
	}
	number := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(append(slices.Clip(cmd.ExtraFiles), file), more...)
	cmd.Args = append([]string{stage.ProgramName, stage.Outer, strconv.Itoa(number)}, cmd.Args...)
	cmd.Path = k.path
	if k.program != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, k.program)
		cmd.Path = fmt.Sprintf("/proc/self/fd/%d", 2+len(cmd.ExtraFiles))
	}
	var once sync.Once
	return func() { once.Do(func() { file.Close() }) }, nil
}

// spec converts p for a stage, with all links resolved: mounts go to the targets of paths.
func (k *Kernel) spec(p Profile) (*stage.Spec, error) {
	root, err := filepath.EvalSymlinks(p.Root)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the workspace can't be found: %w", err)
	case !filepath.IsAbs(root):
		return nil, fmt.Errorf("the workspace %q is not an absolute path", p.Root)
	case slices.Contains(tooWide, root):
		return nil, &Error{Message: fmt.Sprintf("the workspace is %s: commands could write to too much", root), Advice: "start in a directory below it"}
	}
	temp, err := k.temporary()
	if err != nil {
		return nil, err
	}
	s := &stage.Spec{Root: root, Temp: temp, Network: p.Network && !p.RunReadOnly,
		Unprotected: p.Unprotected, RunReadOnly: p.RunReadOnly, EndLeftovers: p.EndLeftovers, Masked: p.Masked, Kept: p.Kept, Removed: p.Removed}
	if p.RunReadOnly {
		if !k.state.RunsReadOnly {
			return nil, errors.New("a command can't be confined to reading here")
		}
		if s.Veiled, err = veiled(root); err != nil {
			return nil, err
		}
	}
	follow := links{}
	for _, one := range []struct {
		from string
		to   *string
	}{{p.Cache, &s.Cache}, {p.Below, &s.Below}} {
		if one.from != "" {
			if *one.to, err = follow.real(one.from); err != nil {
				return nil, err
			}
		}
	}
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{p.Write, &s.Write}, {p.ReadOnly, &s.ReadOnly}, {p.Anchored, &s.Anchored}, {p.Hidden, &s.Hidden}} {
		for _, path := range list.from {
			real, err := follow.real(path)
			if err != nil {
				return nil, err
			}
			if slices.Contains(tooWide, real) && list.to == &s.Write {
				return nil, fmt.Errorf("%s: commands could write to too much", real)
			}
			*list.to = append(*list.to, real)
		}
	}
	if hooks, err := filepath.EvalSymlinks(p.Hooks); p.Hooks != "" && err == nil &&
		!slices.ContainsFunc(append([]string{s.Root}, s.Write...),
			func(dir string) bool { return disk.Inside(dir, hooks) }) {
		s.Hooks = hooks
	}
	return s, nil
}

// links caches the targets of directories: most hidden paths are in few directories.
type links map[string]lead

type lead struct {
	to  string
	err error
}

// real returns the target of an absolute path. If the path does not exist, it returns the
// name in the target of the directory.
func (l links) real(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not an absolute path", path)
	}
	to, err := l.resolve(path)
	if dir := filepath.Dir(path); (errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission)) && dir != path {
		to, err = l.real(dir)
		return filepath.Join(to, filepath.Base(path)), err
	}
	return to, err
}

// resolve does what filepath.EvalSymlinks does.
func (l links) resolve(path string) (string, error) {
	dir := filepath.Dir(path)
	at, known := l[dir]
	if !known {
		at.to, at.err = filepath.EvalSymlinks(dir)
		l[dir] = at
	}
	if at.err != nil {
		return "", at.err
	}
	path = filepath.Join(at.to, filepath.Base(path))
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return path, err
	}
	return filepath.EvalSymlinks(path)
}

// tooWide are directories that hold the system, or the sandbox itself.
var tooWide = []string{"/", "/dev", "/proc", "/sys", "/run", "/etc", "/usr", "/var", "/home", "/bin", "/lib", "/sbin"}

// load prepares the helper: the embedded helper in a sealed file in memory, or else this
// program.
func (k *Kernel) load() {
	program := embedded
	if len(k.options.Helper) > 0 {
		program = k.options.Helper
	}
	if len(program) > 0 && !k.options.Reexec {
		if f, err := memory(stage.ProgramName, program, true); err == nil {
			k.program = f
			return
		}
	}
	k.path, k.helperErr = os.Executable()
}

// memory returns a file in memory with the content. A program is sealed against changes.
func memory(name string, content []byte, program bool) (*os.File, error) {
	flags := unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	mode := unix.MFD_NOEXEC_SEAL
	if program {
		mode = unix.MFD_EXEC
	}
	fd, err := unix.MemfdCreate(name, flags|mode)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(content); err != nil {
		f.Close()
		return nil, err
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, os.NewSyscallError("seal", err)
	}
	return f, nil
}

// State returns the layers that are in force.
func (k *Kernel) State() State {
	k.probe.Do(k.find)
	return k.state
}

// find determines the layers that work, by trying them on a process that does nothing. It
// removes a failed layer and tries the rest again.
func (k *Kernel) find() {
	why := map[string]string{}
	layers := slices.DeleteFunc(slices.Clone(allLayers), func(l string) bool {
		if slices.Contains(k.options.Without, l) {
			why[l] = "switched off"
		}
		return why[l] != ""
	})
	layers = possible(layers, why)
	for len(layers) > 0 {
		failed, reason := k.try(layers)
		if failed == "" {
			break
		}
		if !slices.Contains(layers, failed) { // the failure is not that of a layer
			for _, l := range layers {
				why[l] = reason
			}
			layers = nil
			break
		}
		why[failed] = reason
		layers = possible(slices.DeleteFunc(layers, func(l string) bool { return l == failed }), why)
	}
	k.layers, k.state = layers, k.describe(layers, why)
}

var allLayers = []string{stage.UserNamespace, stage.Namespaces, stage.Proc, stage.NetNamespace,
	stage.Capabilities, stage.Landlock, stage.Seccomp}

// possible leaves out layers that need a missing layer, and records the reason in why.
func possible(layers []string, why map[string]string) []string {
	for _, need := range []struct{ layer, other string }{
		{stage.Namespaces, stage.UserNamespace},
		{stage.UserNamespace, stage.Namespaces},
		{stage.Proc, stage.Namespaces},
		{stage.NetNamespace, stage.Namespaces},
	} {
		if need.layer == stage.Namespaces && os.Geteuid() == 0 { // root needs no user namespace
			continue
		}
		if i := slices.Index(layers, need.layer); i >= 0 && !slices.Contains(layers, need.other) {
			layers = slices.Delete(layers, i, i+1)
			why[need.layer] = "it needs the " + need.other + " layer"
		}
	}
	return layers
}

// try puts layers on a process that does nothing. It returns the first layer that fails,
// and the reason.
func (k *Kernel) try(layers []string) (failed, reason string) {
	dir, err := k.temporary()
	if err != nil {
		return "temp", err.Error()
	}
	cmd := &exec.Cmd{Dir: dir}
	var out bytes.Buffer
	cmd.Stderr = &out
	release, err := k.stage(cmd, &stage.Spec{Root: dir, Layers: layers})
	if err != nil {
		return "helper", err.Error()
	}
	defer release()
	if err = cmd.Run(); err == nil {
		return "", ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	line = strings.TrimPrefix(line, "gemline: sandbox: ")
	if layer, reason, ok := strings.Cut(line, ": "); ok && slices.Contains(layers, layer) {
		return layer, reason
	}
	return "helper", cmp.Or(line, err.Error())
}

func (k *Kernel) describe(layers []string, why map[string]string) State {
	s := State{Name: "kernel"}
	on := func(l string) bool { return slices.Contains(layers, l) }
	var step []string
	for _, l := range allLayers {
		if on(l) {
			why[l] = what[l]
		}
		s.Layers = append(s.Layers, Layer{Name: l, On: on(l), Why: why[l]})
	}
	for _, l := range []string{stage.Namespaces, stage.Landlock, stage.Seccomp} {
		switch {
		case l == stage.Namespaces && on(l) && !on(stage.Proc):
			step = append(step, "namespaces but for /proc")
		case on(l):
			step = append(step, l)
		}
	}
	helper := Layer{"embedded helper", k.program != nil, "a small program in memory starts commands"}
	if !helper.On {
		helper.Why = "this program starts itself again for each command, which is slower; make build embeds a smaller one"
	}
	s.Layers = append(s.Layers, helper)
	s.Step = strings.Join(step, ", ")
	s.Files = on(stage.Namespaces) || on(stage.Landlock)
	s.Network = on(stage.NetNamespace) || on(stage.Seccomp)
	s.Loopback = on(stage.UserNamespace) && on(stage.NetNamespace)
	s.Masks = s.Files
	s.RunsReadOnly = s.Confined() && on(stage.Namespaces)
	if len(step) == 0 {
		s.Name, s.Step = "none", "none: "+why[stage.Namespaces]
		k.layers = nil
	}
	return s
}

// what maps layers to descriptions.
var what = map[string]string{
	stage.UserNamespace: "root inside has no rights outside",
	stage.Namespaces:    "the command sees only the files it may use, and its own processes",
	stage.Proc:          "/proc tells of the command's own processes only",
	stage.NetNamespace:  "the command has an empty network of its own",
	stage.Capabilities:  "no rights of root, and no way to get any",
	stage.Landlock:      "rules restrict files, connections and signals",
	stage.Seccomp:       "the kernel refuses system calls that commands don't need",
}
