package steer_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/steer"
)

// What the user says while the model works goes with the next request.
func Example() {
	hints := new(steer.Hints)
	look := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "look"}, Kind: engine.Read,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) {
				hints.Add(steer.Hint{Text: "only look at Go files"}) // the user types
				return engine.Result{Text: "a.go, b.c"}, nil
			}}, nil
		}}
	e := engine.New(engine.Config{Generator: et.NewScript(et.Says("", et.Call("1", "look")), et.Says("a.go")), Tools: engine.Tools{look}, Policy: allow{}})
	for ev := range hints.Run(e, e.Run, nil)(context.Background(), genai.NewPartFromText("what is here?")) {
		switch ev := ev.(type) {
		case engine.Notice:
			fmt.Println(ev.Text)
		case engine.Text:
			fmt.Println(ev.Delta)
		}
	}
	fmt.Println(len(hints.Take()), "came too late")
	// Output:
	// the model is told: only look at Go files
	// a.go
	// 0 came too late
}

type allow struct{}

func (allow) Offers(engine.Tool) bool { return true }
func (allow) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Allow, engine.Reason{}
}
func (allow) Learn(engine.Grant, engine.Scope) error { return nil }
