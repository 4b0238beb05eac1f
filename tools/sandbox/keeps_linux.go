package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// Keeps reports whether a process is the first one of a namespace below this
// one. Of what a confined command has started that is none of the command's: it
// is there to bury the dead, and ends when nobody else is left.
func Keeps(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			f := strings.Fields(numbers)
			return len(f) > 1 && f[len(f)-1] == "1"
		}
	}
	return false
}
