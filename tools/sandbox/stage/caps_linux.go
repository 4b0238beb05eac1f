package stage

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ownerless are the capabilities by which root reads and writes files of others. Root keeps
// them in a workspace of another user, where it could not work otherwise.
const ownerless = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER

// dropCapabilities drops all capabilities of this thread, and prevents its child processes
// from getting any.
func dropCapabilities(s *Spec) error {
	var keep uint64
	var st unix.Stat_t
	if unix.Geteuid() == 0 && s.Root != "" && unix.Stat(s.Root, &st) == nil && st.Uid != 0 {
		keep = ownerless
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil &&
		!errors.Is(err, unix.EINVAL) {
		return err
	}
	for c := uintptr(0); c < 64; c++ {
		if keep&(1<<c) != 0 {
			continue
		}
		// An ordinary user may not do this, and has no capabilities.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil &&
			!errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for i := range data {
		left := data[i].Permitted & uint32(keep>>(32*i))
		data[i] = unix.CapUserData{Effective: left, Permitted: left}
	}
	return unix.Capset(&head, &data[0])
}
