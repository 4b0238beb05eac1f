// Package lists makes new lists from others. Call [Map] or [Filter]; neither returns nil.
package lists

// Map returns the results of a function for the members of a list, in their order.
func Map[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, one := range list {
		all[i] = of(one)
	}
	return all
}

// Filter returns the members of a list that a function keeps, in their order.
func Filter[T any](list []T, keeps func(T) bool) []T {
	kept := []T{}
	for _, one := range list {
		if keeps(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
