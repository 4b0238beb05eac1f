//go:build unix

package cli

import (
	"os"
	"syscall"
)

// exitCode returns the exit code of a process, 128 plus the signal after a signal.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
