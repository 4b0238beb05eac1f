//go:build !unix

package disk

// Exposed says nothing: who may write the directory of all users is for this
// system to say.
func Exposed(string) string { return "" }

// Shared says nothing, for the same reason.
func Shared(string) string { return "" }

// Foreign says nothing, for the same reason.
func Foreign(string, string) string { return "" }
