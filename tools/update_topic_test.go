package tools

import (
	"testing"

	"gemline/tools/toolstest"
)

// A topic is told when it begins; after that only what comes next is.
func TestUpdateTopic(t *testing.T) {
	tool := updateTopic(true)
	for _, test := range []struct{ args, title, text string }{
		{`{"title":"the\nparser","summary":"The lexer is done.","strategic_intent":"read the grammar"}`, "topic: the parser",
			"Current topic: \"the parser\"\nTopic summary: The lexer is done.\n\nStrategic Intent: read the grammar"},
		{`{"title":"the parser","strategic_intent":"write it"}`, "next: write it", "Strategic Intent: write it"},
		{`{"strategic_intent":"test it"}`, "next: test it", "Strategic Intent: test it"},
		{`{"title":"the docs","strategic_intent":"write them"}`, "topic: the docs",
			"Current topic: \"the docs\"\nTopic summary: ...\n\nStrategic Intent: write them"},
	} {
		call, err := toolstest.Prepare(t, tool, test.args)
		if err != nil {
			t.Fatal(err)
		}
		r, err := call.Run(t.Context(), &toolstest.Desk{})
		if err != nil || call.Intent.Title != test.title || r.Text != test.text {
			t.Errorf("%s: %q, %q, %v", test.args, call.Intent.Title, r.Text, err)
		}
	}
	if _, err := toolstest.Prepare(t, tool, `{"strategic_intent":" "}`); err == nil {
		t.Error("an empty intent is taken")
	}
}
