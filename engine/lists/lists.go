// Package lists makes lists of others. A first caller calls [Map].
package lists

// Map returns the results of a function for the members of a list, in their order. It is never nil.
func Map[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, one := range list {
		all[i] = of(one)
	}
	return all
}
