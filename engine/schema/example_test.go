package schema_test

import (
	"fmt"

	"gemline/engine/schema"
)

// All that is wrong is told at once, in words that a model can act on.
func Example() {
	s, err := schema.Load(`{"type": "object", "required": ["title"], "properties": {
		"title": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["bug", "docs"]}}}}`)
	if err != nil {
		panic(err)
	}
	for _, answer := range []string{
		`{ "title": "Crash", "tags": ["bug"] }`, `{"title": 1, "tags": ["bug", "ui"]}`, `Here it is:`,
	} {
		value, problems := s.Check(answer)
		if problems == nil {
			fmt.Println("it fits:", string(value))
		}
		for _, p := range problems {
			fmt.Println("mend", p)
		}
	}
	// Output:
	// it fits: {"title":"Crash","tags":["bug"]}
	// mend /tags/1: must be one of "bug", "docs", not "ui"
	// mend /title: must be of type string, not integer
	// mend is not JSON: invalid character 'H' looking for beginning of value (line 1, column 1)
}
