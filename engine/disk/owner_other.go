//go:build !unix

package disk

import "os"

// WorldWritable says nothing: who may write the directory of all users is for this
// system to say.
func WorldWritable(string) string { return "" }

// WritableByOthers says nothing, for the same reason.
func WritableByOthers(string) string { return "" }

// OwnedByOther says nothing, for the same reason.
func OwnedByOther(string, string) string { return "" }

// OwnedByUser says yes, for the same reason.
func OwnedByUser(os.FileInfo) bool { return true }
