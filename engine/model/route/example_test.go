package route_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/route"
)

// A Router stands around a conversation twice: around its Run, where it decides, and
// around its Generator, where it has another model answer.
func ExampleRouter() {
	server := et.NewScript(et.Says(`{"complexity_reasoning": "a greeting", "complexity_score": 2}`), et.Says("Hello."))
	router := route.New(route.Config{Model: "auto", Asker: &oneshot.Asker{Generator: server}, Action: route.Switch})
	generator := router.Generator(func(attempts int) engine.Generator {
		return model.Retry(server, model.RetryOptions{Attempts: attempts})
	})
	conversation := engine.New(engine.Config{Model: router.Model(), Generator: generator})
	run := router.Run(conversation, conversation.Run)
	for ev, err := range run(context.Background(), genai.NewPartFromText("Hi!")) {
		switch ev := ev.(type) {
		case engine.RequestStarted:
			fmt.Println("asked:", ev.Model)
		case engine.Text:
			fmt.Println(ev.Delta, err)
		}
	}
	// Output:
	// asked: gemini-3.8-flash
	// Hello. <nil>
}
