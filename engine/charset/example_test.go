package charset_test

import (
	"fmt"

	"gemline/engine/charset"
)

// A byte that is no text survives an edit elsewhere.
func ExampleDecode() {
	text, format, err := charset.Decode([]byte("Gr\u00f6\u00dfe, Andr\xe9\nx = 1\n"))
	fmt.Printf("%q %v\n", charset.Readable(text), err)
	b, err := format.Encode(text[:len(text)-2] + "2\n")
	fmt.Printf("%q %v\n", b, err)
	// Output:
	// "Größe, Andr�\nx = 1\n" <nil>
	// "Größe, Andr\xe9\nx = 2\n" <nil>
}
