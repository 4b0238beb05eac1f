package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A retention with an invalid age, or a maximum below the minimum, is refused.
func TestParseRetention(t *testing.T) {
	for _, bad := range [][3]any{{"x", 0, "1d"}, {"30d", 0, "0h"}, {"1h", 0, "1d"}} {
		if r, err := ParseRetention(bad[0].(string), bad[1].(int), bad[2].(string)); err == nil || r != (Retention{}) {
			t.Errorf("%v is taken: %v", bad, r)
		}
	}
}

func TestExpired(t *testing.T) {
	now := time.Now()
	var all []Session
	for _, hours := range []int{100, 1, 50, 10} {
		all = append(all, Session{ID: time.Duration(hours * int(time.Hour)).String(), Updated: now.Add(-time.Duration(hours) * time.Hour)})
	}
	for want, r := range map[string]Retention{
		"":                            {},
		"100h0m0s":                    {MaxAge: 60 * time.Hour},
		"50h0m0s 100h0m0s":            {MaxCount: 2},
		"10h0m0s 50h0m0s 100h0m0s":    {MaxCount: 1, MaxAge: 60 * time.Hour},
		" 50h0m0s 100h0m0s":           {MaxCount: 1, MinAge: 20 * time.Hour},
		"1h0m0s 10h0m0s 50h0m0s 100h": {MaxAge: time.Minute},
	} {
		var got []string
		expired, _ := r.Expired(all, now)
		for _, s := range expired {
			got = append(got, s.ID)
		}
		if !strings.HasPrefix(strings.Join(got, " "), strings.TrimSpace(want)) || len(got) != len(strings.Fields(want)) {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// Only what was listed is removed, and of that what nobody works with or has gone on with.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	chats := filepath.Join(dir, "chats")
	os.Mkdir(chats, 0o700)
	for i, id := range []string{"gone", "busy", "newer", "stays"} {
		write(t, chats, "session-"+id+".jsonl", session(id, i, ask("q"))...)
	}
	listed, err := List(chats)
	if err != nil {
		t.Fatal(err)
	}
	listed = slices.DeleteFunc(listed, func(s Session) bool { return s.ID == "stays" })
	lock, err := lockSession(chats, "busy")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock(lock)
	write(t, chats, "session-newer.jsonl", session("newer", 50, ask("q"))...)
	dropped := ""
	shelf := Storage{Chats: chats, Dirs: func(id string) []string { return []string{filepath.Join(dir, "outputs", id)} },
		Drop: func(id string) error { dropped += id; return nil }, Tidy: func() error { return nil }}
	os.MkdirAll(filepath.Join(dir, "outputs", "gone"), 0o700)
	gone, err := shelf.Prune(listed)
	if err != nil || len(gone) != 1 || gone[0].ID != "gone" || dropped != "gone" {
		t.Errorf("gone are %+v, dropped %q: %v", gone, dropped, err)
	}
	if left, _ := List(chats); len(left) != 3 {
		t.Errorf("left are %+v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "outputs", "gone")); err == nil {
		t.Error("what was kept with it is there")
	}
	// What can't be let go of keeps the session, and all of it: nobody would know of it.
	shelf.Drop = func(string) error { return errors.New("no") }
	outputs, agents := filepath.Join(dir, "outputs", "stays"), filepath.Join(chats, "stays")
	os.MkdirAll(outputs, 0o700)
	os.MkdirAll(agents, 0o700)
	left, _ := List(chats)
	if gone, err := shelf.Prune(left); err == nil || len(gone) > 0 {
		t.Errorf("gone are %+v: %v", gone, err)
	}
	if err := shelf.Remove("stays"); err == nil {
		t.Error("it is deleted")
	}
	for _, path := range []string{outputs, agents} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("of what is not deleted: %v", err)
		}
	}
}
