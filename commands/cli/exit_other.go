//go:build !unix

package cli

import "os"

// exitCode returns how a process ended.
func exitCode(s *os.ProcessState) int { return s.ExitCode() }
