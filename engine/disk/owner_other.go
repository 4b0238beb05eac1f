//go:build !unix

package disk

import "os"

// WorldWritable says nothing: who may write the directory of all users is for this
// system to say.
func WorldWritable(string) string { return "" }

// Shared says nothing, for the same reason.
func Shared(string) string { return "" }

// OwnedByOther says nothing, for the same reason.
func OwnedByOther(string, string) string { return "" }

// Mine says yes, for the same reason.
func Mine(os.FileInfo) bool { return true }
