package stage

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// endOthers kills all other processes of the namespace, and waits for their end.
func endOthers() {
	for {
		unix.Kill(-1, unix.SIGKILL) // all but this process, which is the first
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// adoptOrphans makes orphaned descendants children of this process.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endAdopted kills the children of this process, and waits for their end. Without /proc it
// does nothing.
func endAdopted() {
	for {
		pids := children()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL) // a zombie keeps its PID until the wait
		}
		wait(pids[0])
	}
}

// children returns the children of this process, the dead ones too.
func children() (pids []int) {
	names, _ := os.ReadDir("/proc")
	for _, e := range names {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:],
			[]byte(" ")) // the name before may hold anything
		if f := bytes.Fields(rest); len(f) > 1 && string(f[1]) == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}
