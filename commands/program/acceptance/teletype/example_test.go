package teletype_test

import (
	"fmt"

	"gemline/commands/program/acceptance/teletype"
)

// A transcript of a terminal that can only append has no escape sequence and takes nothing
// back; a rubbed out character that the terminal echoes is no fault.
func ExampleLint() {
	for _, transcript := range []string{"> helo\b \blo\r\nHello.\r\n", "10 %\r100 %\r\n", "\x1b[1mbold\x1b[m\r\n"} {
		fmt.Printf("%q\n", teletype.Lint([]byte(transcript), teletype.Rules{}))
	}
	// Output:
	// []
	// ["line 1, byte 4: control U+000D"]
	// ["line 1, byte 0: control U+001B" "line 1, byte 8: control U+001B"]
}
