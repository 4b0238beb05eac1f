package sandbox

import (
	"slices"

	"gemline/engine/disk"
)

// ExceptGranted returns hidden without paths that are granted by the same name, and without
// directories that contain a working directory.
func ExceptGranted(hidden, granted, working []string) []string {
	return slices.DeleteFunc(slices.Clone(hidden), func(path string) bool {
		return slices.Contains(granted, path) ||
			slices.ContainsFunc(working, func(w string) bool { return disk.Inside(path, w) })
	})
}
