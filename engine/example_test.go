package engine_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// A conversation with a model that says what it was told to.
func Example() {
	e := engine.New(engine.Config{Model: "gemini-2.5-flash", Generator: et.NewScript(et.Says("Hello."), et.Says("It is 4."))})
	for _, question := range []string{"Good morning!", "What is 2 + 2?"} {
		for ev, err := range e.Run(context.Background(), genai.NewPartFromText(question)) {
			if err != nil {
				fmt.Println("failed:", err)
			} else if text, ok := ev.(engine.Text); ok {
				fmt.Println(text.Delta)
			}
		}
	}
	fmt.Println(len(e.History()), "messages")
	// Output:
	// Hello.
	// It is 4.
	// 4 messages
}

// A Tool says what a call would do before it does it. Here nobody is asked: the
// policy allows what only reads.
func ExampleTool() {
	weather := engine.Tool{
		Declaration: &genai.FunctionDeclaration{Name: "weather", Description: "the weather at a place"},
		Kind:        engine.Read,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			place, ok := args["place"].(string)
			if !ok {
				return engine.Call{}, &engine.CallError{Type: engine.InvalidToolParams, Message: "place is missing"}
			}
			return engine.Call{Intent: engine.Intent{Title: "look up " + place}, Run: func(context.Context, engine.Host) (engine.Result, error) {
				return engine.Result{Text: "rain"}, nil
			}}, nil
		},
	}
	e := engine.New(engine.Config{
		Model:     "gemini-2.5-flash",
		Generator: et.NewScript(et.Says("", et.Call("1", "weather", "place", "Bergen")), et.Says("Take an umbrella.")),
		Tools:     engine.Tools{weather},
		Policy:    policy.New(policy.Default),
	})
	for ev, err := range e.Run(context.Background(), genai.NewPartFromText("What do I need in Bergen?")) {
		switch ev := ev.(type) {
		case engine.CallStarted:
			fmt.Println(ev.Intent.Title)
		case engine.CallFinished:
			fmt.Println(ev.Result.Text)
		case engine.Text:
			fmt.Println(ev.Delta)
		case nil:
			fmt.Println("failed:", err)
		}
	}
	// Output:
	// look up Bergen
	// rain
	// Take an umbrella.
}
