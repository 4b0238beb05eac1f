package front

import (
	"sync"
	"testing"

	"gemline/commands/program/project"
	"gemline/commands/program/project/projecttest"
)

// start returns a run in a home of its own.
func start(t *testing.T, args ...string) *Run {
	t.Helper()
	r, _, err := New(projecttest.Process(t, args...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The last word after a signal is said while the run goes on: what a record says
// of the run may be asked for while the project opens.
func TestLastWordWhileOpening(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-p", "x")
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			r.Status.Sandbox()
			r.Status.Unused()
			r.Status.Mode()
			select {
			case <-done:
				return
			default:
			}
		}
	})
	o, err := r.Options.In(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store, err := o.Paths.Register(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := project.Open(o, r.Status, store)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	close(done)
	asking.Wait()
	if got := r.Status.Sandbox(); got == nil || got.Name != "none" {
		t.Errorf("the record says %+v of what confines commands", got)
	}
}
