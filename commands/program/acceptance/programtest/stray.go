package programtest

import (
	"fmt"
	"io"
	"os"
)

// held is what a careless library takes hold of when it is loaded.
var held = [2]*os.File{os.Stdout, os.Stderr}

// A strayWriter is a library that is asked for random bytes, and talks about it.
type strayWriter struct{ io.Reader }

func (b strayWriter) Read(p []byte) (int, error) {
	fmt.Println("stray to stdout\x1b[2J")
	fmt.Fprintln(os.Stderr, "stray to stderr")
	fmt.Fprintln(held[0], "stray to stdout of before")
	fmt.Fprintln(held[1], "stray to stderr of before")
	return b.Reader.Read(p)
}
