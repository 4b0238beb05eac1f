//go:build !unix

package cli

import "os"

// exitCode returns the exit code of a process.
func exitCode(s *os.ProcessState) int { return s.ExitCode() }
