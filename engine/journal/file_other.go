//go:build !unix

package journal

// noFollow is not supported on this system.
const noFollow = 0
