//go:build !race

package edit

const scale = 1
