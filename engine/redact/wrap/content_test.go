package wrap

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

func TestContent(t *testing.T) {
	clean := func(s string) string { return strings.ReplaceAll(s, "secret", "***") }
	message := func(s string) *genai.Content {
		return &genai.Content{Role: "user", Parts: []*genai.Part{
			nil,
			{Text: "a " + s, ThoughtSignature: []byte("secret")},
			{FunctionCall: &genai.FunctionCall{Name: "secret", Args: map[string]any{"a": s, "b": []any{1, "b " + s, map[string]any{"c": s}}, "n": nil}}},
			{FunctionResponse: &genai.FunctionResponse{Response: map[string]any{"output": s}}},
			{InlineData: &genai.Blob{Data: []byte("secret")}},
			{ExecutableCode: &genai.ExecutableCode{Code: s}},
			{CodeExecutionResult: &genai.CodeExecutionResult{Output: s}},
		}}
	}
	c := message("secret")
	if got := Content(c, clean); !reflect.DeepEqual(got, message("***")) {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(c, message("secret")) {
		t.Error("what was given was changed")
	}
	if c := message("nothing"); Content(c, clean) != c {
		t.Error("copied without need")
	}
	if Content(nil, clean) != nil {
		t.Error("nothing is something")
	}
}

func TestError(t *testing.T) {
	clean := func(s string) string { return strings.ReplaceAll(s, "secret", "***") }
	same := &engine.CallError{Type: "x", Message: "nothing"}
	for _, err := range []error{nil, same, context.Canceled} {
		if cleanError(err, clean) != err {
			t.Errorf("%v was changed", err)
		}
	}
	err := cleanError(errors.Join(&engine.CallError{Type: "x", Message: "a secret", Display: "secret!"}), clean)
	if engine.ErrorType(err) != "x" || err.Error() != "a ***" || engine.DisplayError(err) != "***!" {
		t.Errorf("got %v", err)
	}
}
