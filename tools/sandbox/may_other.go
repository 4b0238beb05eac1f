//go:build !unix

package sandbox

// mayWrite returns false: this system does not report it.
func mayWrite(string) bool { return false }

func mayRead(string) bool { return true }
