package lists_test

import (
	"fmt"
	"strings"

	"gemline/engine/lists"
)

func ExampleMap() {
	fmt.Println(lists.Map([]string{"a", "b"}, strings.ToUpper))
	// Output: [A B]
}
