//go:build unix

package cli

import "golang.org/x/sys/unix"

// freeSpace returns how many bytes the user may still write below dir.
func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(max(0, int64(s.Bavail))) * uint64(s.Bsize), nil
}
