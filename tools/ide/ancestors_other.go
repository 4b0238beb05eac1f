//go:build !linux && !darwin

package ide

// parent returns 0: here only the environment says which editor a terminal belongs to.
func parent(int) int { return 0 }
