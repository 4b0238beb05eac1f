package sandbox_test

import (
	"testing"

	"gemline/tools/sandbox"
	"gemline/tools/sandbox/sandboxtest"
)

// TestKernelSuite holds what the kernel does to what every Sandbox does.
func TestKernelSuite(t *testing.T) {
	k := sandbox.New(sandbox.Options{})
	defer k.Close()
	if s := k.State(); !s.Confined() {
		t.Skipf("this kernel or container does not let it: %+v", s.Layers)
	}
	sandboxtest.Test(t, k, sandboxtest.Features{Signals: true})
}
