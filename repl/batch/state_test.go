package batch

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustOpen(t testing.TB, path string, fresh bool) *state {
	t.Helper()
	s, err := openState(path, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func record(s string) entry {
	return entry{hash: "hash of " + s, attempt: 1, record: []byte(`{"response":"` + s + `"}`)}
}

// A program may be killed at any byte of a line: what was whole before is
// there, nothing else is, and the file can be gone on with.
func TestStateCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "state")
	s := mustOpen(t, path, false)
	var ends []int64
	for i, word := range []string{"one", "tw\u2028o", "three"} {
		if _, err := s.add(i, record(word)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, s.end)
	}
	s.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		cut := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, end := range ends {
			if int64(n) >= end-1 { // the line end may lack
				want++
			}
		}
		s := mustOpen(t, cut, false)
		if got, _ := s.len(); got != want {
			t.Fatalf("cut at %d: %d items instead of %d", n, got, want)
		}
		e, err := s.add(7, record("more"))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.record(e); err != nil || string(b) != `{"response":"more"}` {
			t.Fatalf("cut at %d: %s, %v", n, b, err)
		}
		s.Close()
		s = mustOpen(t, cut, false)
		if got, _ := s.len(); got != want+1 {
			t.Fatalf("cut at %d and gone on with: %d items instead of %d", n, got, want+1)
		}
		for i, e := range s.items {
			if b, err := s.record(e); err != nil || !json.Valid(b) {
				t.Fatalf("cut at %d: item %d: %s, %v", n, i, b, err)
			}
		}
		s.Close()
	}
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s := mustOpen(t, path, false)
	failed := record("one")
	failed.code, failed.reason = 67, "quota"
	s.add(0, failed)
	again := record("one again")
	again.hash, again.attempt = failed.hash, 2
	s.add(0, again)
	s.add(1, failed)

	if _, err := openState(path, true); err == nil || !strings.Contains(err.Error(), "another run of this batch is in progress") {
		t.Errorf("opened twice: %v", err)
	}
	s.Close()

	s = mustOpen(t, path, false)
	if all, answered := s.len(); all != 2 || answered != 1 {
		t.Errorf("%d, %d", all, answered)
	}
	if _, ok := s.take(1, "another"); ok {
		t.Error("another item has the same place")
	}
	e, ok := s.take(0, failed.hash)
	if b, _ := s.record(e); !ok || e.attempt != 2 || string(b) != `{"response":"one again"}` {
		t.Errorf("%+v %s", e, b)
	}
	if _, ok := s.take(0, failed.hash); ok {
		t.Error("it is there twice")
	}
	s.Close()

	s = mustOpen(t, path, true)
	if all, _ := s.len(); all != 0 {
		t.Errorf("afresh, %d are left", all)
	}
	s.add(0, again)
	if err := s.remove(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("%v", left)
	}
}

// When the disk is full, what follows is kept in memory, and what was kept
// before can still be had.
func TestStateFull(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "state"), false)
	one, err := s.add(0, record("one"))
	if err != nil {
		t.Fatal(err)
	}
	rw := s.file
	if s.file, err = os.Open(s.path); err != nil { // can't be written to
		t.Fatal(err)
	}
	rw.Close()
	two, err := s.add(1, record("two"))
	if err == nil || !s.volatile() {
		t.Fatal("it can be written to")
	}
	three, err := s.add(2, record("three"))
	if err != nil {
		t.Errorf("told twice: %v", err)
	}
	for i, e := range []entry{one, two, three} {
		if b, err := s.record(e); err != nil || !bytes.Contains(b, []byte([]string{"one", "two", "three"}[i])) {
			t.Errorf("%s, %v", b, err)
		}
	}
}

// Whatever stands in the file, it is opened, and what is read from it is JSON.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"index":0,"hash":"h","attempt":1,"exit_code":0,"record":{"a":1}}` + "\n" + `{"index":99999999999,"hash":"h","attempt":1,"record":{}}` + "\n{"))
	f.Add([]byte("\n\n{}\nnull\n[]\n{\"record\":{}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, path, false)
		before, _ := s.len()
		for _, e := range s.items {
			if b, err := s.record(e); err != nil || !json.Valid(b) {
				t.Fatalf("%q, %v", b, err)
			}
		}
		if _, err := s.add(-1+1<<40, record("x")); err != nil {
			t.Fatal(err)
		}
		s.Close()
		s = mustOpen(t, path, false)
		if after, _ := s.len(); after < before || after > before+1 {
			t.Fatalf("%d items, then %d", before, after)
		}
		s.Close()
	})
}
