package engine_test

import (
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// TestContinuedUsage has an answer made by three requests: what they took is added up,
// and what the conversation holds is what the first one's prompt held, and the answer.
func TestContinuedUsage(t *testing.T) {
	l := &et.Longform{Turns: [][]et.Piece{{
		{Part: &genai.Part{Text: "a"}, Then: et.Continues},
		{Part: &genai.Part{FunctionCall: et.Call("1", "one")}, Then: et.Continues},
		{Part: &genai.Part{FunctionCall: et.Call("2", "two")}}}}}
	e := engine.New(engine.Config{Model: "m", Generator: model.Retry(l, model.RetryOptions{})})
	var first *engine.Usage
	for ev, err := range e.Run(t.Context(), genai.NewPartFromText("q")) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case engine.Usage:
			if first == nil {
				first = &ev
			}
		case engine.AnswerContinued, engine.Retry:
			t.Errorf("told %#v", ev)
		}
	}
	if first == nil || first.Prompt != 300 || first.Output != 3 || first.Sum() != 303 {
		t.Errorf("usage %+v", first)
	}
	said := e.History()[1]
	if len(said.Parts) != 3 || said.Parts[0].Text != "a" || said.Parts[1].FunctionCall.Name != "one" ||
		said.Parts[2].FunctionCall.Name != "two" {
		t.Errorf("said %+v", said.Parts)
	}
}
