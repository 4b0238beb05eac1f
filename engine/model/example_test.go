package model_test

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
)

// A recording stands in for a server, behind what asks again.
func Example() {
	fake := model.NewFake("talk.jsonl", strings.NewReader(
		`{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello, "}]}}]},{"candidates":[{"content":{"parts":[{"text":"world."}]},"finishReason":"STOP"}]}]}`), false)
	g := model.Retry(fake, model.RetryOptions{})
	req := &engine.Request{Model: "gemini-2.5-flash", Contents: genai.Text("Say hello.")}
	for chunk, err := range g.Generate(context.Background(), req) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(chunk.Text())
	}
	// Output: Hello, world.
}
