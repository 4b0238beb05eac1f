//go:build !linux

package sandbox

// IsHelperProcess returns false: this system has no helper processes.
func IsHelperProcess(int) bool { return false }
