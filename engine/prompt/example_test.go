package prompt_test

import (
	"fmt"
	"strings"

	"gemline/engine/prompt"
)

// What does not apply is not said: a tool is mentioned only if it is there.
func ExampleSystem() {
	for _, tools := range [][]string{{"read_file"}, {"read_file", "write_todos"}} {
		text, err := prompt.System(prompt.Config{Tools: tools, More: "Answer in Norwegian."})
		fmt.Println(strings.Contains(text, "write_todos"), err)
		fmt.Println(strings.HasSuffix(text, "Answer in Norwegian."))
	}
	// Output:
	// false <nil>
	// true
	// true <nil>
	// true
}
