//go:build !unix

package journal

// noFollow is nothing where the system can't be told.
const noFollow = 0
