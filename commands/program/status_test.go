package program

import (
	"sync"
	"testing"
)

// The last word after a signal is said while the run goes on: what a record says
// of the run may be asked for while the project opens.
func TestLastWordWhileOpening(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-p", "x")
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			r.status.sandbox()
			r.status.notInUse()
			r.status.mode()
			select {
			case <-done:
				return
			default:
			}
		}
	})
	o, err := r.opts.In(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store, err := o.Paths.Register(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(o, r.status, store)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	close(done)
	asking.Wait()
	if got := r.status.sandbox(); got == nil || got.Name != "none" {
		t.Errorf("the record says %+v of what confines commands", got)
	}
}
