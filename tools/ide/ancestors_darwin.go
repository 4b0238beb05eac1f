package ide

import "golang.org/x/sys/unix"

// parent returns the process that a process was started by, 0 if there is none.
func parent(pid int) int {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(p.Eproc.Ppid)
}
