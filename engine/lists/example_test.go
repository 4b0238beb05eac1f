package lists_test

import (
	"fmt"
	"path"
	"strings"

	"gemline/engine/lists"
)

func Example() {
	rooted := lists.Filter([]string{"/a", "b", "/c"}, path.IsAbs)
	fmt.Println(lists.Map(rooted, strings.ToUpper))
	// Output: [/A /C]
}
