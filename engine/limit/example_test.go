package limit_test

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/limit"
)

// A Budget stands below the engine, where it counts tokens, and above it, where
// it counts calls. An answer that crosses a limit is whole; the next is refused.
func Example() {
	b := limit.New(limit.Config{Tokens: 1000})
	e := engine.New(engine.Config{Model: "gemini-2.5-flash",
		Generator: b.Generator(et.NewScript(et.Says("It is 4.").With(700, 400), et.Says("It is 6.")))})
	run := b.Watch(e.Run)
	for _, question := range []string{"What is 2 + 2?", "And 3 + 3?"} {
		for ev, err := range run(context.Background(), genai.NewPartFromText(question)) {
			if text, ok := ev.(engine.Text); ok {
				fmt.Println(text.Delta)
			}
			if stopped, ok := errors.AsType[*limit.Error](err); ok {
				fmt.Printf("%s: %s\nhint: %s\n", stopped.Kind, stopped.Message, stopped.Hint())
			}
		}
	}
	// Output:
	// It is 4.
	// max_tokens: stopped: 1,100 tokens are used, and the limit is --max-tokens 1000
	// hint: --max-tokens sets the limit
}
