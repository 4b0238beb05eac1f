package tracker_test

import (
	"fmt"
	"os"

	"gemline/tools/tracker"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s := &tracker.Store{Dir: func() string { return dir }}
	first, _ := s.Create(tracker.Task{ID: "aaaaaa", Title: "parse", Type: "task", Status: "open"})
	s.Create(tracker.Task{ID: "bbbbbb", Title: "print", Type: "task", Status: "open", Dependencies: []string{first.ID}})
	_, err = s.Update("bbbbbb", func(t *tracker.Task) { t.Status = "closed" })
	fmt.Println(err)
	// Output: Cannot close task bbbbbb because dependency aaaaaa is still open.
}
