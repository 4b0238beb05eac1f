package model

import (
	"fmt"
	"testing"
)

// Arguments in a text are taken out of the text that they stand in, and no other text is changed.
func TestArgumentsInATextOfTwoCalls(t *testing.T) {
	chunk, _, err := (&decoder{}).bare([]byte(`{"candidates":[{"content":{"parts":[{"text":"{}"},` +
		`{"functionCall":{"name":"write","args":"{\"content\":\"{}\"}"}},{"functionCall":{"name":"list","args":"{}"}}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	parts := chunk.Candidates[0].Content.Parts
	got := fmt.Sprintf("%s %T %v", parts[0].Text, parts[1].FunctionCall.Args["content"], parts[2].FunctionCall.Args)
	if want := "{} string map[]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
