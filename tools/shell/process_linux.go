package shell

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processes lists the living processes.
func processes() map[int]proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return psProcesses()
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	procs := map[int]proc{}
	for _, name := range names {
		pid := number(name)
		if pid == 0 {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The name stands in brackets and may hold anything.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		procs[pid] = proc{parent: number(f[1]), group: number(f[2]), session: number(f[3]), born: f[19]}
	}
	return procs
}

// linkName returns the name of f in a process's list of open files.
func linkName(f *os.File) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return name
}

// writesTo reports whether an output of process pid is the file called name.
func writesTo(pid int, name string) bool {
	for _, fd := range [...]string{"1", "2"} {
		if to, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd); err == nil && to == name {
			return true
		}
	}
	return false
}

// Conceal protects this process from its commands: they can't read its memory and
// environment, and don't inherit its inherited files. It is called once, before any command
// runs.
func Conceal() error {
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return errors.Join(err, unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC))
}
