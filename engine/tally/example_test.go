package tally_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/tally"
)

// A Tally is shown what a Run yields, and answers with numbers.
func Example() {
	e := engine.New(engine.Config{Model: "gemini-2.5-flash",
		Generator: et.NewScript(et.Says("It is 4.").With(8000, 400))})
	var t tally.Tally
	began := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	t.Start(began)
	var failed error
	for ev, err := range e.Run(context.Background(), genai.NewPartFromText("What is 2 + 2?")) {
		if failed = err; err == nil {
			t.Observe(ev, began.Add(11*time.Second))
		}
	}
	t.End(failed, began.Add(12*time.Second))
	fmt.Println(t.Span(began.Add(12 * time.Second)))
	fmt.Println(t.Tokens(), "tokens")
	// Output:
	// 12 s, 8,400 tokens
	// 8400 tokens
}
