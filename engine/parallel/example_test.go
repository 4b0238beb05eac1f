package parallel_test

import (
	"fmt"
	"strings"

	"gemline/engine/parallel"
)

// A panic of one comes where somebody waits for the work, when all are over.
func ExampleEach() {
	sizes := make([]int, 3)
	defer func() {
		said, _, _ := strings.Cut(recover().(string), "\n") // what follows is the stack
		fmt.Println(said, sizes)
	}()
	parallel.Each(len(sizes), 2, func(i int) {
		if i == 1 {
			panic("no size is known")
		}
		sizes[i] = i + 1
	})
	// Output:
	// no size is known [1 0 3]
}
