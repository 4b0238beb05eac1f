//go:build unix && !linux

package shell

import "os"

func processes() map[int]proc { return psProcesses() }

func linkName(*os.File) string { return "" }

func writesTo(int, string) bool { return false }

// Conceal does nothing on this system.
func Conceal() error { return nil }
