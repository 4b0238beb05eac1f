//go:build !linux

package sandbox

import (
	"errors"
	"os/exec"
)

// Options are what a Kernel may be told. The zero value will do.
type Options struct {
	Without []string // layers not to use, as State names them
	Reexec  bool     // the embedded helper is not used
	Helper  []byte   // is used in place of the embedded one
	Temp    []string // directories for temporary files, the first that can be written to; none means the system's
	Cache   string   // is used, and made, where none of Temp can be
}

// A Kernel confines commands by what Linux has for it. On other systems it
// confines nothing, and says so.
type Kernel struct{}

// New returns the confinement by this system's kernel.
func New(Options) *Kernel { return &Kernel{} }

// Close does nothing.
func (*Kernel) Close() error { return nil }

// ErrUnavailable is why a command is not confined: nothing on this system can.
var ErrUnavailable = errors.New("nothing on this system confines commands")

// Confine always returns ErrUnavailable.
func (*Kernel) Confine(*exec.Cmd, Profile) (func(), error) { return nil, ErrUnavailable }

// State says that nothing is in force.
func (*Kernel) State() State {
	return State{Name: "none", Step: "none: the kernel's confinement is for Linux"}
}
