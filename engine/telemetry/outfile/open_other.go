//go:build !unix

package outfile

const nonblock = 0
