package redact_test

import (
	"fmt"

	"gemline/engine/redact"
)

// What is known to be a secret goes wherever it stands; what only looks like one
// goes where a text is kept, but the model reads it.
func Example() {
	var r redact.Redactor
	r.Add("API key", "correct horse/battery")
	text := "curl 'x/?key=correct+horse%2Fbattery' # once ghp_0123456789abcdefghijABCDEFGHIJ012345"
	fmt.Println("to the model:", r.RedactKnown(text))
	fmt.Println("to a log:    ", r.Text(text))

	s := r.Stream() // of an answer that comes in pieces
	fmt.Printf("%q %q %q\n", s.Next("I use correct ho"), s.Next("rse/battery. Fine?"), s.End())
	// Output:
	// to the model: curl 'x/?key=[redacted: API key]' # once ghp_0123456789abcdefghijABCDEFGHIJ012345
	// to a log:     curl 'x/?key=[redacted: API key]' # once [redacted: GitHub token]
	// "I use " "[redacted: API key]. Fine?" ""
}
