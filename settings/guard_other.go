//go:build !unix

package settings

// exposed says nothing: who may write the directory of all users is for this
// system to say.
func exposed(string) string { return "" }

// shared says nothing, for the same reason.
func shared(string) string { return "" }

// foreign says nothing, for the same reason.
func foreign(string, string) string { return "" }
