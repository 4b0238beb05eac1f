package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, by their objects.
const (
	toRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	toWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	toUse  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	ofFile = toUse | unix.LANDLOCK_ACCESS_FS_EXECUTE
)

// oldest is the first usable version of Landlock: earlier versions do not restrict
// truncation.
const oldest = 3

// A ruleset is a ruleset of Landlock.
type ruleset struct {
	fd      int
	handled uint64
}

// restrict confines this thread and its future processes to s.
func restrict(s *Spec) error {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("this kernel has none: %w", errno)
	}
	if abi < oldest {
		return fmt.Errorf("this kernel has version %d, which is too old: %d is needed", abi, oldest)
	}
	r, err := newRuleset(s, int(abi))
	if err != nil {
		return err
	}
	defer unix.Close(r.fd)
	if s.has(Namespaces) {
		r.allowSeen(s)
	} else {
		r.allowListed(s)
	}
	for fd := range 3 { // opening by name gives no more than the open descriptor
		r.allow(fmt.Sprintf("/proc/self/fd/%d", fd), toUse, true)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func newRuleset(s *Spec, abi int) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: toRead | toWrite}
	if abi >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 4 && !s.Network && !s.has(NetNamespace) {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, errno
	}
	return &ruleset{int(fd), attr.Handled_access_fs}, nil
}

// allow grants rights at path and below. A missing path needs no rule: everything else is
// refused.
func (r *ruleset) allow(path string, rights uint64, follow bool) {
	flags := unix.O_PATH | unix.O_CLOEXEC
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Open(path, flags, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
}

// allowSeen allows everything visible, as the mounts enforce the Spec's paths.
func (r *ruleset) allowSeen(s *Spec) {
	r.allow("/", toRead, false)
	r.allow("/proc", toUse, false) // its system settings are read-only
	r.allow("/dev", toUse, false)
	r.allow("/dev/shm", toRead|toWrite, false)
	written := temporary(s)
	if !s.RunReadOnly {
		written = slices.Concat([]string{s.Root}, s.Write, written)
	}
	for _, path := range written {
		r.allow(path, toRead|toWrite, false)
	}
}

// allowListed allows the paths of s. Landlock can't make an exception below an allowed
// directory, so in directories with hidden files every other entry is listed. The names of
// hidden files can be seen.
func (r *ruleset) allowListed(s *Spec) {
	r.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR, false)
	left := maxListed
	closed := slices.Concat(s.Hidden, s.Masked)
	r.allowBut("/", closed, &left)
	for _, name := range devices {
		r.allow("/dev/"+name, toUse, false)
	}
	for _, path := range slices.Concat([]string{s.Root, s.Temp}, s.Write) {
		if path == "" {
			continue
		}
		rights := uint64(toWrite | unix.LANDLOCK_ACCESS_FS_READ_DIR)
		if !slices.ContainsFunc(closed, func(h string) bool { return inside(path, h) }) {
			rights |= toRead
		}
		r.allow(path, rights, false)
	}
}

// maxListed is how many entries of directories are listed next to hidden ones.
// Further entries can't be read.
const maxListed = 20000

// allowBut allows reading dir without its hidden entries.
func (r *ruleset) allowBut(dir string, hidden []string, left *int) {
	if slices.ContainsFunc(hidden, func(h string) bool { return inside(h, dir) }) {
		return
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return inside(dir, h) }) {
		r.allow(dir, toRead, false)
		return
	}
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	names, err := d.Readdirnames(*left)
	if err = errors.Join(err, d.Close()); err != nil && len(names) == 0 {
		return
	}
	*left -= len(names)
	for _, name := range names {
		if path := filepath.Join(dir, name); *left > 0 {
			if linkAt(path) {
				continue
			}
			r.allowBut(path, hidden, left)
		}
	}
}

func linkAt(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}
