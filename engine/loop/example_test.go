package loop_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/loop"
)

// A model that asks for the same again and again is told so once.
func Example() {
	var replies []et.Reply
	for range 10 {
		replies = append(replies, et.Says("", et.Call("", "look")))
	}
	nothing := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "look"}, Kind: engine.Read,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) { return engine.Result{}, nil }}, nil
		}}
	e := engine.New(engine.Config{Generator: et.NewScript(replies...), Tools: engine.Tools{nothing}, Policy: allow{}})
	for ev, err := range loop.New(loop.Config{}).Run(e.Run)(context.Background(), genai.NewPartFromText("look")) {
		if n, ok := ev.(engine.Notice); ok {
			fmt.Println(n.Text)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// the model goes in circles, and gets a warning: look, 5 times with the same result
	// stopped: the model goes in circles: look, 5 times with the same result
}

type allow struct{}

func (allow) Offers(engine.Tool) bool { return true }
func (allow) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Allow, engine.Reason{}
}
func (allow) Learn(engine.Grant, engine.Scope) error { return nil }
