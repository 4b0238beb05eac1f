package check_test

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/check"
)

// What a check finds is said to whoever did the work.
func Example() {
	tests := []string{"TestSum fails", ""}
	work := func(_ context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		fmt.Printf("%q\n", parts[0].Text)
		return func(yield func(engine.Event, error) bool) {
			yield(engine.CallFinished{Name: "replace", Result: engine.Result{Changes: []engine.Change{{Path: "sum.go", Added: 1}}}}, nil)
		}
	}
	c := check.Config{Command: "go test", MaxRepairs: 3, Kind: func(string) engine.Kind { return engine.Edit },
		Run: func(context.Context) (engine.Result, int, error) {
			found := tests[0]
			if tests = tests[1:]; found == "" {
				return engine.Result{}, 0, nil
			}
			return engine.Result{Text: found}, 1, &engine.CallError{Message: found, Display: "failed exit 1"}
		}}
	for ev := range c.Wrap(work)(context.Background(), genai.NewPartFromText("add up")) {
		if c, ok := ev.(engine.CheckFinished); ok {
			fmt.Println("round", c.Round, "code", c.Code)
		}
	}
	// Output:
	// "add up"
	// round 1 code 1
	// "<system_note>\nThe work is not done: the check failed (exit 1). Mend its findings. It printed:\n\nTestSum fails\n</system_note>"
	// round 2 code 0
}
