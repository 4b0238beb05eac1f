//go:build unix

package cli

import (
	"os"
	"syscall"
)

// exitCode returns how a process ended, as a shell has it.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
