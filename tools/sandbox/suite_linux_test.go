package sandbox_test

import (
	"os"
	"os/exec"
	"slices"
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
	if i := slices.IndexFunc(k.State().Layers, func(l sandbox.Layer) bool { return l.Name == "namespaces" }); i < 0 || !k.State().Layers[i].On {
		t.Skip("without namespaces what is protected is put back, not held: ", k.State().Step)
	}
	sandboxtest.Test(t, k, sandboxtest.Features{Signals: true})
	if os.Getenv("SOAK") != "" { // TestSharedLoopback tries what differs
		t.Run("loopback", func(t *testing.T) { sandboxtest.Test(t, sharing{k}, sandboxtest.Features{Signals: true}) })
	}
}

// sharing is a Sandbox whose commands share a loopback interface.
type sharing struct{ sandbox.Sandbox }

func (s sharing) Confine(cmd *exec.Cmd, p sandbox.Profile) (func(), error) {
	p.Loopback = true
	return s.Sandbox.Confine(cmd, p)
}
