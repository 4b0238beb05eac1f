package sandbox

import "gemline/tools/sandbox/stage"

// Least says what is in force at the least: no more than State will, and in
// microseconds where the kernel can be asked. Where only trying tells, or has
// told, it is what State says.
func (k *Kernel) Least() State {
	if k.found.Load() || len(k.options.Without) > 0 || !stage.Certain() {
		return k.State()
	}
	return State{Name: ByKernel, Step: "at least Landlock, seccomp", Files: true, Network: true}
}
