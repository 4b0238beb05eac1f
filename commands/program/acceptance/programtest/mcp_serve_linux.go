//go:build linux

package programtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Workers returns the processes that work in a directory.
func Workers(dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && at == dir {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}
