//go:build unix

package auth

import "io/fs"

// exposed reports whether other users than the owner may read a file.
func exposed(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0
}
