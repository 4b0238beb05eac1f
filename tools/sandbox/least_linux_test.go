package sandbox

import (
	"slices"
	"testing"

	"gemline/tools/sandbox/stage"
)

// What is said before anything was tried is no more than what turns out to be
// in force, and nothing is made or started for it.
func TestLeast(t *testing.T) {
	k := kernel(t, Options{})
	for _, without := range [][]string{nil, {stage.Landlock}, {stage.Seccomp}, {stage.Namespaces}, allLayers} {
		fresh := New(Options{Without: without})
		t.Cleanup(func() { fresh.Close() })
		least := fresh.Least()
		if !fresh.found.Load() && fresh.temp != nil {
			t.Error("a directory was made")
		}
		exact := fresh.State()
		if least.Files && !exact.Files || least.Network && !exact.Network {
			t.Errorf("without %v: first %+v, then %+v", without, least, exact)
		}
		if again := fresh.Least(); again.Step != exact.Step || !slices.Equal(again.Layers, exact.Layers) {
			t.Errorf("without %v: at last %+v, not %+v", without, again, exact)
		}
	}
	if has(k, stage.Landlock) && has(k, stage.Seccomp) && !stage.Certain() {
		t.Error("what can be put on is not certain")
	}
}
