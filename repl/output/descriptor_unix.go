//go:build unix

package output

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Descriptor returns the inherited file with descriptor n, for writing. Children of the program do
// not inherit it.
//
// A descriptor that is closed at the start may soon belong to a file of the program itself. Such
// files have the flag FD_CLOEXEC, which no inherited descriptor can have.
func Descriptor(n int) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return nil, fmt.Errorf("descriptor %d is not open; a shell opens it with %d>FILE", n, n)
	}
	if mode, _ := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0); mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, fmt.Errorf("descriptor %d is open for reading only", n)
	}
	unix.CloseOnExec(n)
	return os.NewFile(uintptr(n), fmt.Sprintf("descriptor %d", n)), nil
}
