// Package toolkit makes tools: a name, a description for the model, a schema and a Go type
// of arguments become an [engine.Tool].
//
// # Arguments always fit the schema
//
// The model's arguments are converted to the schema before they are decoded, so that no tool
// repeats the checks of its schema. The author of a tool calls [Define].
package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	jsonschema "gemline/engine/schema"
	"gemline/engine/text"
)

// Define makes a tool whose arguments are A. The model is shown doc and schema; its
// arguments are made to fit schema before A is filled in, so prepare sees required
// arguments present and of their type. The error for arguments that don't fit is an
// [*engine.CallError], which lists all problems. Properties that schema does not list are
// dropped, with a note. An invalid schema is a panic at the first call.
func Define[A any](name, label string, kind engine.Kind, doc, schema string,
	prepare func(context.Context, A) (engine.Call, error)) engine.Tool {
	shape := sync.OnceValue(func() *jsonschema.Schema {
		s, err := jsonschema.Parse(closed(schema))
		if err != nil {
			panic(fmt.Sprintf("toolkit: schema of %s: %v", name, err)) // a bug in the tool
		}
		return s
	})
	fit := func(args map[string]any) (map[string]any, string, error) { return Fit(shape(), args, Internal...) }
	return engine.Tool{
		Declaration: &genai.FunctionDeclaration{
			Name:                 name,
			Description:          strings.TrimSpace(doc),
			ParametersJsonSchema: json.RawMessage(schema),
		},
		Label: label,
		Kind:  kind,
		Fit:   fit,
		Prepare: func(ctx context.Context, args map[string]any) (engine.Call, error) {
			args, _, err := fit(args)
			if err != nil {
				return engine.Call{}, err
			}
			a, err := Decode[A](args)
			if err != nil {
				return engine.Call{}, Misuse("%v", err)
			}
			return prepare(ctx, a)
		},
	}
}

// Internal lists arguments that no schema has: the request to run alone, for the engine, and
// the marks of a proposal that the user changed.
var Internal = []string{"wait_for_previous", "modified_by_user", "ai_proposed_content", "read_only"}

// Fit returns args converted to the schema, and a note about dropped arguments. Arguments
// listed in beside are kept. The error lists all problems for the model.
func Fit(s *jsonschema.Schema, args map[string]any, beside ...string) (fitted map[string]any, note string, err error) {
	seen := maps.Clone(args)
	for _, name := range beside {
		delete(seen, name)
	}
	fitted, note, problem := s.Fit(seen)
	fitted = maps.Clone(fitted)
	for _, name := range beside {
		if v, ok := args[name]; ok {
			fitted[name] = v
		}
	}
	if problem != "" {
		return fitted, note, Misuse("%s", problem)
	}
	return fitted, note, nil
}

// Decode fills an A from args.
func Decode[A any](args map[string]any) (a A, err error) {
	b, err := json.Marshal(args)
	if err == nil {
		err = text.Unmarshal(b, &a)
	}
	return a, err
}

// Misuse returns an error for the model about the arguments of its call.
func Misuse(format string, args ...any) error {
	return &engine.CallError{Type: engine.InvalidToolParams, Message: fmt.Sprintf(format, args...)}
}

// closed returns schema with objects that allow only the listed properties. The schema for
// the model omits that, to save tokens.
func closed(schema string) []byte {
	var v any
	if json.Unmarshal([]byte(schema), &v) != nil {
		return []byte(schema)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
			if _, open := v["additionalProperties"]; v["type"] == "object" && v["properties"] != nil && !open {
				v["additionalProperties"] = false
			}
		}
	}
	walk(v)
	b, _ := json.Marshal(v)
	return b
}
