//go:build !unix

package disk

import "os"

// WorldWritable returns "": this system protects shared directories in other ways.
func WorldWritable(string) string { return "" }

// WritableByOthers returns "", for the same reason.
func WritableByOthers(string) string { return "" }

// OwnedByOther returns "", for the same reason.
func OwnedByOther(string, string) string { return "" }

// OwnedByUser returns true, for the same reason.
func OwnedByUser(os.FileInfo) bool { return true }
