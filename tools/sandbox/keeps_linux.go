package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// IsHelperProcess reports whether a process is the first process of a namespace below this
// one. It is no process of the confined command: it reaps processes, and ends with the last
// process.
func IsHelperProcess(pid int) bool {
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
