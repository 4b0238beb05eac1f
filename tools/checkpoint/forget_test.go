package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// What was kept for a session goes with it, while others work: nothing of theirs is lost,
// and the store does not grow with sessions that are deleted.
func TestForget(t *testing.T) {
	p := newPlace(t)
	p.write("a", "0")
	p.turn("first", func() { p.write("a", "1") })
	store := Store(p.kept)
	var wg sync.WaitGroup
	for i := range 4 { // sessions that come and go in the same folder
		wg.Go(func() {
			q := &place{t: t, dir: p.dir, kept: p.kept}
			for n := range 6 {
				session := fmt.Sprintf("other-%d-%d", i, n)
				q.again(session)
				name := fmt.Sprintf("other-%d", i)
				q.turn("theirs", func() { q.write(name, fmt.Sprint(n, " and more")) })
				q.Keeper.Close()
				if err := store.Drop(session); err != nil {
					t.Error(err)
				}
				if err := store.Collect(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range 10 {
		p.turn(fmt.Sprint("mine ", n), func() { p.write("mine", fmt.Sprint(n)) })
	}
	wg.Wait()
	list, err := p.Turns(t.Context())
	if err != nil || len(list) != 11 {
		t.Fatalf("%d turns, %v", len(list), err)
	}
	p.undo(len(list), true)
	if b, err := os.ReadFile(filepath.Join(p.dir, "a")); err != nil || string(b) != "0" {
		t.Errorf("a is %q, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "mine")); err == nil {
		t.Error("mine is there")
	}
	if len(p.told) > 0 {
		t.Error(p.told)
	}
	p.Keeper.Close()

	if ids, err := store.OrphanSessions([]string{"session-1"}, time.Now().Add(time.Hour)); err != nil || len(ids) > 0 {
		t.Errorf("strays %q, %v", ids, err)
	}
	if ids, err := store.OrphanSessions(nil, time.Now().Add(-time.Hour)); err != nil || len(ids) > 0 {
		t.Errorf("young strays %q, %v", ids, err)
	}
	if ids, err := store.OrphanSessions(nil, time.Now().Add(time.Hour)); err != nil || len(ids) != 1 {
		t.Errorf("strays %q, %v", ids, err)
	}
	if err := store.Drop("session-1"); err != nil {
		t.Error(err)
	}
	if err := store.Collect(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.kept, "states/*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	for _, none := range []Store{"", Store(filepath.Join(t.TempDir(), "none"))} {
		if err := none.Collect(); err != nil {
			t.Error(err)
		}
	}
}

// A session that has only looked back, and ends after what others had kept is gone, does not have
// the next one take that for kept.
func TestForgottenBeside(t *testing.T) {
	p := newPlace(t)
	p.write("a", "0")
	p.turn("first", func() { p.write("b", "1") })
	p.history.top.at(filepath.Join(p.dir, "a"), false).settled = true // as it is after a while
	p.again("session-2")
	if _, err := p.Turns(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := Store(p.kept)
	if err := errors.Join(store.Drop("session-1"), store.Collect()); err != nil {
		t.Fatal(err)
	}
	p.again("session-3")
	p.turn("third", func() { p.write("a", "1") })
	p.undo(1, true)
	if b, err := os.ReadFile(filepath.Join(p.dir, "a")); err != nil || string(b) != "0" {
		t.Errorf("a is %q, %v", b, err)
	}
}
