package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine"
	"gemline/repl/batch"
	"gemline/repl/report"
)

// Each prompt has a record. When the batch is carried out again, only what has failed is
// asked again.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "batch")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	busy := true
	ask := func(_ context.Context, t batch.Task) error {
		fmt.Println("asked:", t.Item.Prompt)
		if t.Item.Prompt == "second" && busy {
			return errors.New("the server is busy")
		}
		t.Reporter.Event(engine.Text{Delta: strings.ToUpper(t.Item.Prompt)})
		return nil
	}
	for range 2 {
		var out bytes.Buffer
		err := batch.Run(context.Background(), batch.Config{
			Source: batch.Source{Reader: strings.NewReader("first\nsecond\n"), Name: "prompts"},
			Format: batch.Lines, Jobs: 1, Ask: ask, Out: &out,
			State:  batch.StateFile{File: filepath.Join(dir, "state")},
			Errors: batch.Errors{Outcome: func(err error) report.Outcome { return report.Outcome{Err: err} }},
			Notify: func(string) {}})
		for line := range bytes.Lines(out.Bytes()) {
			var r struct{ ID, Status, Response string }
			if json.Unmarshal(line, &r) == nil {
				fmt.Printf("%+v\n", r)
			}
		}
		fmt.Println("over:", err)
		busy = false
	}
	// Output:
	// asked: first
	// asked: second
	// {ID:0 Status:success Response:FIRST}
	// {ID:1 Status:error Response:}
	// over: some items of the batch failed
	// asked: second
	// {ID:0 Status:success Response:FIRST}
	// {ID:1 Status:success Response:SECOND}
	// over: <nil>
}
