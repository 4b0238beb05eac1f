package jsonc_test

import (
	"fmt"

	"gemline/settings/jsonc"
)

func ExampleSet() {
	text := []byte("{\n  // the fast one\n  \"model\": \"flash\",\n}\n")
	text, err := jsonc.Set(text, []string{"ui", "ascii"}, true)
	fmt.Print(string(text))
	fmt.Println(err)
	// Output:
	// {
	//   // the fast one
	//   "model": "flash",
	//   "ui": {
	//     "ascii": true
	//   },
	// }
	// <nil>
}
