//go:build !unix

package disk

import "os"

// Exposed says nothing: who may write the directory of all users is for this
// system to say.
func Exposed(string) string { return "" }

// Shared says nothing, for the same reason.
func Shared(string) string { return "" }

// Foreign says nothing, for the same reason.
func Foreign(string, string) string { return "" }

// Mine says yes, for the same reason.
func Mine(os.FileInfo) bool { return true }
