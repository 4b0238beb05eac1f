package journal

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gemline/engine"
)

// One at a time goes on with a session, however it is opened.
func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	begun, err := Open(Config{Dir: dir}, OpenOptions{Session: "mine"})
	if err != nil || begun.Fresh || begun.History != nil {
		t.Fatal(begun, err)
	}
	busy := func(c OpenOptions) {
		t.Helper()
		var e *BusyError
		if o, err := Open(Config{Dir: dir}, c); !errors.As(err, &e) || e.ID != "mine" || e.PID != os.Getpid() && runtime.GOOS != "windows" {
			t.Errorf("%+v: %+v, %v", c, o, err)
		}
	}
	busy(OpenOptions{Session: "mine"})
	busy(OpenOptions{ID: "mine"})
	put(t, begun.File, engine.Entry{Content: user("q")})
	busy(OpenOptions{Session: "mine"})
	busy(OpenOptions{Resume: true})
	busy(OpenOptions{Resume: true, Selector: "mine"})
	if other, err := Open(Config{Dir: dir}, OpenOptions{Session: "mine-too"}); err != nil {
		t.Error(err)
	} else {
		other.File.Close()
	}
	begun.File.Close()
	again, err := Open(Config{Dir: dir}, OpenOptions{Session: "mine"})
	if err != nil || len(again.History) != 1 || again.File.Path() != begun.File.Path() {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := begun.File.Record(engine.Entry{Content: user("q")}); err == nil {
		t.Error("recorded into a session that is another's now")
	}
	again.File.Close()
	if locks, _ := filepath.Glob(filepath.Join(dir, ".session-*")); len(locks) > 0 {
		t.Errorf("left behind: %q", locks)
	}
	for _, id := range []string{"latest", "Latest", "1", "42"} {
		for _, choice := range []OpenOptions{{Session: id}, {ID: id}} {
			if _, err := Open(Config{Dir: dir}, choice); err == nil || !strings.Contains(err.Error(), "which session of the list") {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	if _, err := Open(Config{Dir: dir}, OpenOptions{Session: "../mine"}); err == nil {
		t.Error("an id that leads elsewhere")
	}
}

// A lock that its owner was killed with holds nobody up.
func TestLeftLock(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".session-mine.lock"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Open(Config{Dir: dir}, OpenOptions{Session: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	o.File.Close()
}

// Whether anybody works with a session of a directory is told, and looking takes none.
func TestInUse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".session-left.lock"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(InUse(filepath.Join(dir, "missing")), InUse(dir)); err != nil {
		t.Error(err)
	}
	o, err := Open(Config{Dir: dir}, OpenOptions{Session: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if e := (*BusyError)(nil); !errors.As(InUse(dir), &e) || e.ID != "mine" || e.PID != os.Getpid() {
		t.Errorf("%+v", e)
	}
	o.File.Close()
	if err := InUse(dir); err != nil {
		t.Error(err)
	}
}

// Whoever comes first has the session, and never two at once.
func TestRaceForSession(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	holders, most, opened := 0, 0, 0
	for range 8 {
		wg.Go(func() {
			for range 50 {
				o, err := Open(Config{Dir: dir}, OpenOptions{Session: "mine"})
				if err != nil {
					continue
				}
				mu.Lock()
				holders, opened = holders+1, opened+1
				most = max(most, holders)
				mu.Unlock()
				if err := o.File.Record(engine.Entry{Content: user("q")}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				holders--
				mu.Unlock()
				o.File.Close()
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d had the session at once", most)
	}
	if paths, _ := filepath.Glob(filepath.Join(dir, "session-*")); len(paths) != 1 {
		t.Errorf("files: %q", paths)
	} else if c := load(t, paths[0]); len(c.History) != opened {
		t.Errorf("%d questions of %d", len(c.History), opened)
	}
}
