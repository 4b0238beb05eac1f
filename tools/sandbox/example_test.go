package sandbox_test

import (
	"errors"
	"fmt"

	"gemline/tools/sandbox"
)

// What confines commands is what was asked for, or an error that names a way out.
func ExampleChoose() {
	for _, word := range []string{"kernel", "bwrap", "chroot"} {
		_, err := sandbox.Choose(sandbox.Config{Word: word, By: "--sandbox", GOOS: "plan9"})
		if e, ok := errors.AsType[*sandbox.Error](err); ok {
			fmt.Printf("%v\n  hint: %s\n", e, e.Hint())
		}
	}
	// Output:
	// --sandbox: the kernel of plan9 can't confine commands
	//   hint: name another one: kernel, docker, podman, runsc, sandbox-exec
	// --sandbox: bwrap is not used: the kernel does the same and filters system calls besides
	//   hint: gemline --sandbox=kernel
	// --sandbox: "chroot" is not something that confines commands
	//   hint: there are: on, off, kernel, docker, podman, runsc, sandbox-exec
}
