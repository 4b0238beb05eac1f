package sandbox

import (
	"slices"

	"gemline/engine/disk"
)

// ExceptGranted returns hidden without what is granted by that very name, and without
// what any of working lies in: where somebody works is not hidden.
func ExceptGranted(hidden, granted, working []string) []string {
	return slices.DeleteFunc(slices.Clone(hidden), func(path string) bool {
		return slices.Contains(granted, path) ||
			slices.ContainsFunc(working, func(w string) bool { return disk.Inside(path, w) })
	})
}
