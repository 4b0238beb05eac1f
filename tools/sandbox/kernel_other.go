//go:build !linux

package sandbox

import "os/exec"

// A Kernel confines commands by what Linux has for it. On other systems it confines nothing,
// and its State says so.
type Kernel struct{}

// New returns the confinement by this system's kernel.
func New(Options) *Kernel { return &Kernel{} }

// Close does nothing.
func (*Kernel) Close() error { return nil }

// Confine always returns ErrUnavailable.
func (*Kernel) Confine(*exec.Cmd, Profile) (func(), error) { return nil, ErrUnavailable }

// State says that nothing is in force.
func (*Kernel) State() State {
	return State{Name: "none", Step: "none: the kernel's confinement is for Linux"}
}
