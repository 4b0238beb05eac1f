package sandbox

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// What one process has found out the next one tells, as long as nothing around it is
// different; what it runs itself, it tries.
func TestLast(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sub", "found.json")
	first := New(Options{Found: file})
	defer first.Close()
	want := first.Last()
	if !first.tried.Load() {
		t.Error("nothing was tried")
	}
	if !want.Confined() {
		if _, err := os.Stat(file); err == nil {
			t.Error("it is kept that nothing can be put on")
		}
		t.Skip(want.Step)
	}
	last := func(o Options) (tried bool) {
		t.Helper()
		k := New(o)
		defer k.Close()
		got := k.Last()
		if tried = k.tried.Load(); !tried && !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, not %+v", got, want)
		}
		if got := k.State(); !k.tried.Load() || !reflect.DeepEqual(k.Last(), got) {
			t.Errorf("%+v is told, and %+v is so", k.Last(), got)
		}
		return tried
	}
	if last(Options{Found: file}) {
		t.Error("it was tried again")
	}
	if !last(Options{Found: file, Without: []string{"Landlock"}}) {
		t.Error("it was not tried with other layers")
	}
	for _, text := range []string{"", "null", `{"State":{"Name":"kernel","Files":true,"Network":true}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if !last(Options{Found: file}) {
			t.Errorf("%q was believed", text)
		}
	}
	if !last(Options{}) {
		t.Error("it was not tried without a file")
	}
}
