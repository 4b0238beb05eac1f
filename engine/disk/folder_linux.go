package disk

import "golang.org/x/sys/unix"

func statOf(st *unix.Stat_t) Stat {
	return Stat{Mode: modeOf(st.Mode), Size: st.Size, Dev: st.Dev, Ino: st.Ino,
		Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano()}
}
