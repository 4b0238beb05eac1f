package workspace

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// A panic of a goroutine that looks through directories or files is that of
// whoever asked, and none of the others goes on.
func TestWorkersFallOnTheCaller(t *testing.T) {
	defer goleak.VerifyNone(t)
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = "x\n"
	}
	dir := tree(t, files)
	w := open(t, Config{Roots: []string{dir}})
	falls := func(name string, f func()) {
		t.Helper()
		defer func() {
			if v, _ := recover().(string); !strings.Contains(v, "\ngoroutine ") || !strings.HasPrefix(v, "oh no\n") && name != "search" {
				t.Errorf("%s: recovered %.200q", name, v)
			}
		}()
		f()
	}
	ohNo := func(string, bool) bool { panic("oh no") }
	falls("walk", func() {
		for range w.Walk(t.Context(), dir, WalkOptions{Skip: ohNo}) {
		}
	})
	falls("kept walk", func() {
		for range w.Walk(t.Context(), dir, WalkOptions{Keep: func(string, fs.FileMode) bool { panic("oh no") }}) {
		}
	})
	falls("listing for a search", func() {
		w.Search(t.Context(), dir, Query{Pattern: regexp.MustCompile("x"), Skip: ohNo})
	})
	falls("search", func() {
		w.Search(t.Context(), dir, Query{}) // no pattern
	})
}
