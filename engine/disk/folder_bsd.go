//go:build unix && !linux

package disk

import "golang.org/x/sys/unix"

func statOf(st *unix.Stat_t) Stat {
	return Stat{Mode: modeOf(uint32(st.Mode)), Size: st.Size, Dev: uint64(st.Dev), Ino: uint64(st.Ino),
		Modified: unix.TimespecToNsec(st.Mtim), Changed: unix.TimespecToNsec(st.Ctim)}
}
