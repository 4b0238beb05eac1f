package schema_test

import (
	"fmt"

	value "gemline/engine/schema"
	"gemline/repl/schema"
)

// A program holds what it reads to the schema, which takes fields of later versions.
func ExampleText() {
	text, _ := schema.Text("events")
	s, err := value.Parse(text)
	if err != nil {
		panic(err)
	}
	const usual = `"timestamp": "2026-11-20T20:40:23.003Z", "seq": 3, "elapsed_ms": 1}`
	for _, line := range []string{
		`{"type": "message", "role": "assistant", "content": "Hello.", "mood": "good", ` + usual,
		`{"type": "message", "role": "assistant", ` + usual,
	} {
		_, problems := s.Check(line)
		fmt.Println(len(problems) == 0, problems)
	}
	// Output:
	// true []
	// false [fits none of the 12 schemas of oneOf; of the nearest: lacks "content"]
}
