package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What can't be put into its place at last is on standard output.
func TestDestinationLost(t *testing.T) {
	for _, failed := range []bool{false, true} {
		var stdout strings.Builder
		dir := filepath.Join(t.TempDir(), "dir")
		name := filepath.Join(dir, "out")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		d, err := NewDestination(name, &stdout, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"one ", "two"} {
			if n, err := d.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatal(n, err)
			}
		}
		if stdout.Len() > 0 {
			t.Errorf("%q is on standard output", stdout.String())
		}
		for _, path := range []string{name, name + ".partial"} { // a rename can't replace them
			if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		note, err := d.End(failed)
		var lost *DestinationError
		if stdout.String() != "one two" || failed != (note != "") || failed != (err == nil) || !failed && !errors.As(err, &lost) {
			t.Errorf("%q, %q, %v", stdout.String(), note, err)
		}
		if note, err := d.End(!failed); note != "" || err != nil || stdout.Len() != 7 {
			t.Errorf("the second time it ends with %q %v", note, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 2 {
			t.Errorf("%d files are left", len(entries))
		}
	}
}
