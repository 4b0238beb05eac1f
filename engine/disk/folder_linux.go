package disk

import "golang.org/x/sys/unix"

func lookOf(st *unix.Stat_t) Look {
	return Look{Mode: modeOf(st.Mode), Size: st.Size, Dev: st.Dev, Ino: st.Ino,
		Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano()}
}
