package disk

import (
	"slices"

	"golang.org/x/sys/unix"
)

// local are the types of local file systems.
var local = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// OnLocalDisk reports whether a path is known to be on a local disk, to which no other machine
// writes.
func OnLocalDisk(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && slices.Contains(local, int64(st.Type))
}
