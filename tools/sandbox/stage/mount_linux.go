package stage

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// runtimes are directories of programs below /run.
var runtimes = []string{"/run/current-system", "/run/opengl-driver", "/run/wrappers"}

// A tree is a detached mount, to be attached at a path.
type tree struct {
	fd       int
	at       string
	readOnly bool
}

// take returns a detached copy of the tree at path, with all mounts in it.
func take(path string) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path,
		unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return tree{}, &os.PathError{Op: "take", Path: path, Err: err}
	}
	return tree{fd: fd, at: path}, nil
}

// set sets attributes of all mounts of t.
func (t tree) set(attr uint64) error {
	return unix.MountSetattr(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr})
}

// put attaches t at its path and closes it.
func (t tree) put() error {
	defer unix.Close(t.fd)
	to, err := find(t.at)
	if err != nil {
		return &os.PathError{Op: "mount on", Path: t.at, Err: err}
	}
	defer unix.Close(to)
	if err := move(t.fd, to); err != nil {
		return &os.PathError{Op: "mount on", Path: t.at, Err: err}
	}
	return nil
}

func move(from, to int) error {
	return unix.MoveMount(from, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// find opens path as a reference. No part of path may be a link: paths of a Spec have none,
// so a link was created later, perhaps by an attacker.
func find(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS})
}

// follow resolves the links in path. Most paths have none, which the kernel reports at once.
func follow(path string) (string, error) {
	if fd, err := find(path); err == nil {
		unix.Close(fd)
		return filepath.Clean(path), nil
	}
	return filepath.EvalSymlinks(path)
}

// mount builds the command's view of the file system.
func (in *innerStage) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return &layerError{Namespaces, err}
	}
	seen, err := in.trees()
	if err != nil {
		return err
	}
	nodes := takeDevices()
	names, err := nameServers()
	if err != nil {
		return &layerError{Namespaces, err}
	}
	const harmless = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE,
		&unix.MountAttr{Attr_set: harmless}); err != nil {
		return &layerError{Namespaces, fmt.Errorf("make everything read-only: %w", err)}
	}
	if err := putDevices(nodes); err != nil {
		return &layerError{Namespaces, fmt.Errorf("/dev: %w", err)}
	}
	if err := in.proc(); err != nil {
		return err
	}
	masks, err := maskRun(names)
	if err != nil {
		return &layerError{Namespaces, fmt.Errorf("/run: %w", err)}
	}
	for _, t := range seen {
		if err := t.place(in.spec.RunReadOnly); err != nil {
			return err
		}
		attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if t.readOnly {
			attr |= unix.MOUNT_ATTR_RDONLY
		}
		if err := errors.Join(t.set(attr), t.put()); err != nil {
			return err
		}
	}
	for _, path := range append(masks, in.spec.Veiled...) {
		unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	if err := in.anchor(); err != nil { // before the mounts of protect, or it would copy them
		return err
	}
	if in.guard, err = protect(in.spec, true); err != nil {
		return err
	}
	if err := in.deny(); err != nil {
		return err
	}
	in.share()
	return nil
}

// trees detaches the writable directories, and the visible paths below the future private
// temporary directories, parents first.
func (in *innerStage) trees() ([]tree, error) {
	var all []tree
	paths := slices.Clone(in.spec.Write)
	if in.spec.Root != "" {
		paths = append(paths, in.spec.Root)
	}
	for _, path := range paths {
		t, err := take(path)
		t.readOnly = in.spec.RunReadOnly
		switch {
		case errors.Is(err, unix.ENOENT) && path != in.spec.Root:
		case err != nil:
			return nil, err
		default:
			all = append(all, t)
		}
	}
	for _, path := range temporary(in.spec) {
		t, err := in.temp()
		if err != nil {
			return nil, err
		}
		t.at = path
		all = append(all, t)
	}
	for _, path := range in.spec.Veiled {
		fd, err := memory("0111", unix.MOUNT_ATTR_NODEV)
		if err != nil {
			return nil, err
		}
		all = append(all, tree{fd: fd, at: path})
	}
	for _, path := range in.visible() {
		if t, err := take(path); err == nil {
			t.readOnly = true
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b tree) int { return cmp.Compare(a.at, b.at) })
	return all, nil
}

// temp returns the tree for the command's temporary directory.
func (in *innerStage) temp() (tree, error) {
	if !in.spec.RunReadOnly {
		return take(in.spec.Temp)
	}
	fd, err := memory("1777", unix.MOUNT_ATTR_NODEV)
	return tree{fd: fd}, err
}

// temporary returns the temporary directories that become private for the command. A
// directory in Root or Write stays shared.
func temporary(s *Spec) []string {
	var all []string
	for _, path := range []string{"/tmp", "/var/tmp"} {
		real, err := filepath.EvalSymlinks(path)
		if s.Temp == "" || err != nil || slices.Contains(all, real) {
			continue
		}
		if !slices.ContainsFunc(append(slices.Clone(s.Write), s.Root),
			func(w string) bool { return w != "" && inside(w, real) }) {
			all = append(all, real)
		}
	}
	return all
}

// visible returns paths that stay readable inside private directories: the command's
// program, the programs in its PATH, its home, and the Spec's paths.
func (in *innerStage) visible() []string {
	s := in.spec
	private := append(temporary(s), s.Veiled...)
	wanted := append([]string{s.Path, s.Below}, s.ReadOnly...)
	for _, dir := range slices.Concat(s.Write, s.ReadOnly) {
		if tree := path.Dir(dir); path.Base(dir) == ".git" && s.Root != "" && inside(tree, s.Root) && tree != s.Root {
			wanted = append(wanted, tree) // git would take the hidden files of the tree for deleted
		}
	}
	for _, kv := range os.Environ() {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "HOME":
			if !s.RunReadOnly {
				wanted = append(wanted, value)
			}
		case "PATH":
			for dir := range strings.SplitSeq(value, ":") {
				if !s.RunReadOnly || !inside(dir, s.Root) {
					wanted = append(wanted, dir)
				}
			}
		}
	}
	var all []string
	for _, path := range wanted {
		real, err := follow(path)
		below := func(dir string) bool {
			return inside(dir, real) && (real != dir || s.RunReadOnly && slices.Contains(s.ReadOnly, real))
		}
		if err != nil || !filepath.IsAbs(real) || !slices.ContainsFunc(private, below) {
			continue
		}
		if !slices.ContainsFunc(slices.Concat(all, s.Write, []string{s.Root}),
			func(dir string) bool { return dir != "" && inside(dir, real) }) {
			all = append(all, real)
		}
	}
	return all
}

// inside reports whether path is dir or below it.
func inside(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// place creates a mount point for t if needed: an empty directory may hide the original
// path.
func (t tree) place(veiled bool) error {
	fd, err := find(t.at)
	if err == nil {
		return unix.Close(fd)
	}
	if !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "find", Path: t.at, Err: err}
	}
	mode := os.FileMode(0o755)
	if veiled {
		mode = 0o111 // not listable, as the real directory may have other entries
	}
	var st unix.Stat_t
	if err := unix.Fstat(t.fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(t.at, mode)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(t.at), mode), create(t.at))
}

// memory returns a new file system in memory, not yet attached.
func memory(mode string, attr int) (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigSetString(fs, "mode", mode); err != nil {
		return -1, err
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attr|unix.MOUNT_ATTR_NOSUID)
}

// proc mounts a /proc with only the command's processes, if the kernel allows it, and masks
// the files in /proc that can change the system.
func (in *innerStage) proc() error {
	if in.spec.has(Proc) {
		if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return &layerError{Proc, err}
		}
	}
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs"} {
		t, err := take("/proc/" + name)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EINVAL) {
			continue
		}
		if err == nil {
			err = errors.Join(t.set(unix.MOUNT_ATTR_RDONLY), t.put())
		}
		if err != nil {
			return &layerError{Namespaces, err}
		}
	}
	return nil
}

// nameServers detaches the target of the link /etc/resolv.conf, if it would be hidden.
func nameServers() ([]tree, error) {
	var all []tree
	for _, path := range append([]string{"/etc/resolv.conf"}, runtimes...) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !inside("/run", real) && !inside("/run", path) {
			continue
		}
		t, err := take(real)
		if err != nil {
			return nil, err
		}
		if !inside("/run", real) {
			t.at = path // a link there, as NixOS has, would be hidden
		}
		all = append(all, t)
	}
	return all, nil
}

// maskRun hides the directories of services' sockets, except for keep. It returns its mount
// points.
func maskRun(keep []tree) (masks []string, err error) {
	for _, path := range []string{"/run", "/var/run"} {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		fd, err := memory("0755", unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return nil, err
		}
		if err := (tree{fd: fd, at: path}).put(); err != nil {
			return nil, err
		}
		masks = append(masks, path)
	}
	for _, t := range keep {
		const harmless = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
		if err := errors.Join(t.place(false), t.set(harmless), t.put()); err != nil {
			return nil, err
		}
	}
	return masks, nil
}

// anchor prevents renames of the Spec's anchored directories.
func (in *innerStage) anchor() error {
	for _, path := range in.spec.Anchored {
		t, err := take(path) // a place where something is mounted can't be moved
		if err == nil {
			err = t.put()
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// deny makes the Spec's read-only paths read-only, and hides its hidden paths.
func (in *innerStage) deny() error {
	for _, path := range in.spec.ReadOnly {
		t, err := take(path)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err == nil {
			err = errors.Join(t.set(unix.MOUNT_ATTR_RDONLY), t.put())
		}
		if err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(in.spec.Hidden, in.spec.Masked) {
		if err := hide(path, in.spec.RunReadOnly); err != nil {
			return &os.PathError{Op: "hide", Path: path, Err: err}
		}
	}
	return nil
}

// hide mounts an inaccessible file or directory on path. If look, a directory becomes an
// empty one, which the command can pass through.
func hide(path string, look bool) error {
	to, err := find(path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil // there is nothing to read
	}
	if err != nil {
		return err
	}
	defer unix.Close(to)
	var st unix.Stat_t
	if err := unix.Fstat(to, &st); err != nil {
		return err
	}
	cover := noFile
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if cover = noDirectory; look {
			cover = emptyDirectory
		}
	}
	t, err := take(cover)
	if err != nil {
		return err
	}
	defer unix.Close(t.fd)
	err = move(t.fd, to)
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil // not every kernel can; this is only an extra
	}
	return err
}

// environment returns the command's environment. It replaces a temporary directory that the
// command can't write to.
func (in *innerStage) environment() []string {
	env := os.Environ()
	s := in.spec
	temp := s.Temp
	if s.has(Namespaces) {
		if private := temporary(s); len(private) > 0 {
			temp = private[0]
		}
	}
	if temp == "" {
		return env
	}
	for i, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if name != "TMPDIR" && name != "TMP" && name != "TEMP" {
			continue
		}
		if s.RunReadOnly || !slices.ContainsFunc(append(slices.Clone(s.Write), s.Root),
			func(w string) bool { return w != "" && inside(w, value) }) {
			env[i] = name + "=" + temp
		}
	}
	if !s.has(Namespaces) && !slices.ContainsFunc(env,
		func(kv string) bool { return strings.HasPrefix(kv, "TMPDIR=") }) {
		env = append(env, "TMPDIR="+temp)
	}
	return env
}
