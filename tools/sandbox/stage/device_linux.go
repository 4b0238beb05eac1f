package stage

import (
	"errors"

	"golang.org/x/sys/unix"
)

// devices are the nodes that a command finds in /dev.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// takeDevices detaches the nodes for the command's /dev.
func takeDevices() []tree {
	var nodes []tree
	for _, name := range devices {
		if t, err := take("/dev/" + name); err == nil {
			nodes = append(nodes, t)
		}
	}
	return nodes
}

// putDevices mounts a /dev with the few devices that programs need, and its own terminals
// and shared memory. It also holds the files that are mounted over hidden paths.
func putDevices(nodes []tree) error {
	fd, err := memory("0755", unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	if err := (tree{fd: fd, at: "/dev"}).put(); err != nil {
		return err
	}
	for _, link := range [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"},
		{"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"}} {
		if err := unix.Symlink(link[1], "/dev/"+link[0]); err != nil {
			return err
		}
	}
	err = errors.Join(unix.Mkdir("/dev/pts", 0o755), unix.Mkdir("/dev/shm", 0o755),
		unix.Mkdir(noDirectory, 0), unix.Mkdir(emptyDirectory, 0o555), create(noFile))
	for _, t := range nodes {
		err = errors.Join(err, create(t.at), t.put())
	}
	if err != nil {
		return err
	}
	shm, err := memory("1777", unix.MOUNT_ATTR_NODEV)
	if err == nil {
		err = tree{fd: shm, at: "/dev/shm"}.put()
	}
	if err != nil {
		return err
	}
	if pts, err := terminals(); err == nil { // programs do without
		if err := (tree{fd: pts, at: "/dev/pts"}).put(); err != nil {
			return err
		}
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/dev", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// Empty files and directories, mounted over hidden paths.
const (
	noFile      = "/dev/nothing"
	noDirectory = "/dev/nowhere"

	emptyDirectory = "/dev/empty" // can be opened
)

// create makes an empty file that nobody can open.
func create(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// terminals returns a new, separate file system for terminals.
func terminals() (int, error) {
	fs, err := unix.Fsopen("devpts", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	err = errors.Join(unix.FsconfigSetString(fs, "ptmxmode", "0666"),
		unix.FsconfigSetString(fs, "mode", "0620"), unix.FsconfigCreate(fs))
	if err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
}
