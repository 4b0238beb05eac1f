package compress_test

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/compress"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// What a tool has put out goes to a file once there is newer output.
func Example() {
	read := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "read_file"}, Kind: engine.Read,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) {
				return engine.Result{Text: "first line\n" + strings.Repeat("and so on\n", 500) + "last line"}, nil
			}}, nil
		}}
	e := engine.New(engine.Config{Model: "m", Tools: engine.Tools{read}, Policy: policy.New(policy.Yolo),
		Generator: et.NewScript(et.Says("", et.Call("1", "read_file")), et.Says("", et.Call("2", "read_file")),
			et.Says("Done.")),
		Context: compress.New(compress.Config{
			Masking: compress.Masking{Latest: true},
			Keep:    func(name, output string) (string, error) { return "/outputs/" + name + ".txt", nil },
		})})
	for ev, err := range e.Run(context.Background(), genai.NewPartFromText("Read it twice.")) {
		if n, ok := ev.(engine.Notice); ok || err != nil {
			fmt.Println(n.Text, err)
		}
	}
	said := e.History()[2].Parts[0].FunctionResponse.Response["output"].(string)
	fmt.Println(strings.Contains(said, "and so on"), strings.Contains(said, "/outputs/read_file_1.txt"))
	// Output:
	// old outputs were put into files: 2,787 tokens became 1,499 <nil>
	// true true
}
