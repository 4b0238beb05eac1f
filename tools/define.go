package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
)

// define makes a tool whose arguments are A. The model is shown doc and
// schema; what it answers is checked against schema before A is filled in, so
// prepare sees required arguments present and of their type.
func define[A any](name, label string, kind engine.Kind, doc, schema string, prepare func(context.Context, A) (engine.Call, error)) engine.Tool {
	shape := sync.OnceValue(func() (s shape) {
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			panic(fmt.Sprintf("tools: schema of %s: %v", name, err)) // a mistake in this package
		}
		return s
	})
	return engine.Tool{
		Declaration: &genai.FunctionDeclaration{
			Name:                 name,
			Description:          strings.TrimSpace(doc),
			ParametersJsonSchema: json.RawMessage(schema),
		},
		Label: label,
		Kind:  kind,
		Prepare: func(ctx context.Context, args map[string]any) (engine.Call, error) {
			if args == nil {
				args = map[string]any{}
			}
			if err := shape().check("params", args); err != nil {
				return engine.Call{}, invalid(err)
			}
			a, err := decode[A](args)
			if err != nil {
				return engine.Call{}, invalid(err)
			}
			return prepare(ctx, a)
		},
	}
}

func invalid(err error) error {
	return &engine.CallError{Type: engine.InvalidToolParams, Message: err.Error()}
}

// decode fills an A from args. Numbers that are whole fit into an int, however
// they were written.
func decode[A any](args map[string]any) (a A, err error) {
	b, err := json.Marshal(args)
	if err != nil {
		return a, err
	}
	err = json.NewDecoder(bytes.NewReader(b)).Decode(&a)
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		return a, fmt.Errorf("params/%s must be %s", strings.ReplaceAll(te.Field, ".", "/"), te.Type)
	}
	return a, err
}

// A shape is the part of JSON Schema that the built-in tools use.
type shape struct {
	Type       string           `json:"type"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
	Enum       []string         `json:"enum"`
	Minimum    *float64         `json:"minimum"`
}

// internal names arguments that no schema shows: the wish to run alone, which
// the engine reads, and the marks of a proposal that the user changed.
var internal = []string{"wait_for_previous", "modified_by_user", "ai_proposed_content", "read_only"}

// check says in the words of JSON Schema validators, which models know, what
// is wrong with v at path.
func (s shape) check(path string, v any) error {
	ok := true
	switch s.Type {
	case "string":
		_, ok = v.(string)
	case "boolean":
		_, ok = v.(bool)
	case "number", "integer":
		var f float64
		f, ok = number(v)
		if ok && s.Type == "integer" && f != float64(int64(f)) {
			ok = false
		}
		if ok && s.Minimum != nil && f < *s.Minimum {
			return fmt.Errorf("%s must be >= %v", path, *s.Minimum)
		}
	case "array":
		return s.checkItems(path, v)
	case "object":
		return s.checkObject(path, v)
	}
	if !ok {
		return fmt.Errorf("%s must be %s", path, s.Type)
	}
	if text, is := v.(string); is && s.Enum != nil && !slices.Contains(s.Enum, text) {
		return fmt.Errorf("%s must be equal to one of the allowed values: %s", path, strings.Join(s.Enum, ", "))
	}
	return nil
}

func (s shape) checkItems(path string, v any) error {
	items, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s must be array", path)
	}
	if s.Items == nil {
		return nil
	}
	for i, item := range items {
		if err := s.Items.check(fmt.Sprintf("%s/%d", path, i), item); err != nil {
			return err
		}
	}
	return nil
}

func (s shape) checkObject(path string, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s must be object", path)
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s must have required property '%s'", path, name)
		}
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		p, ok := s.Properties[name]
		if !ok {
			if s.Properties == nil || slices.Contains(internal, name) {
				continue
			}
			return fmt.Errorf("%s must NOT have additional properties: '%.100s'", path, name)
		}
		if err := p.check(path+"/"+name, object[name]); err != nil {
			return err
		}
	}
	return nil
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}
