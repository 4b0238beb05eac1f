package front

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// shells are the programs that close a descriptor by >&-.
var shells = []string{"ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"}

// outputClosed reports whether a shell started this program with its standard output closed. Go
// opens the null device for reading and writing in its place, as do programs that discard the
// output of others; a shell opens it for writing only. So outputClosed reports true only if the
// parent is a shell whose own output is not the null device.
func outputClosed() bool {
	const stdout = 1
	flags, err := unix.FcntlInt(stdout, unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || !isNull("/proc/self/fd/1") {
		return false
	}
	parent := fmt.Sprintf("/proc/%d/", os.Getppid())
	name, err := os.ReadFile(parent + "comm")
	if err != nil || !slices.Contains(shells, strings.TrimSpace(string(name))) {
		return false
	}
	return !isNull(parent + "fd/1")
}

// isNull reports whether path, the link of an open file, leads to the null device.
func isNull(path string) bool {
	to, err := os.Readlink(path)
	return err == nil && to == os.DevNull
}
