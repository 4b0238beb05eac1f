package preset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/genai"
)

// An Error is a mistake in the settings.
type Error struct{ what, advice string }

// Error says what is wrong.
func (e *Error) Error() string { return e.what }

// Hint says what to do about it.
func (e *Error) Hint() string { return e.advice }

// A reader turns settings into aliases and overrides, and keeps the first error.
type reader struct{ err *error }

func (r reader) fail(at, want string) {
	if *r.err == nil {
		*r.err = &Error{fmt.Sprintf("the setting modelConfigs.%s is not %s", at, want),
			"gemline config list --origin says where it is set"}
	}
}

// object returns v as an object; none is empty.
func (r reader) object(at string, v any) map[string]any {
	m, ok := v.(map[string]any)
	if v != nil && !ok {
		r.fail(at, "an object")
	}
	return m
}

func (r reader) text(at string, v any) string {
	s, ok := v.(string)
	if v != nil && !ok {
		r.fail(at, "a string")
	}
	return s
}

func (r reader) aliases(at string, v any) map[string]alias {
	all := map[string]alias{}
	m := r.object(at, v)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		at := at + "." + name
		one := r.object(at, m[name])
		a := r.config(at, one["modelConfig"])
		a.extends = r.text(at+".extends", one["extends"])
		all[name] = a
	}
	return all
}

// config reads a model and its settings.
func (r reader) config(at string, v any) (a alias) {
	at += ".modelConfig"
	m := r.object(at, v)
	a.model = r.text(at+".model", m["model"])
	a.config = r.object(at+".generateContentConfig", m["generateContentConfig"])
	if err := decode(a.config, &genai.GenerateContentConfig{}); err != nil {
		want := "what the API takes"
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			want += ": " + wrong.Field + " is a " + wrong.Value
		}
		r.fail(at+".generateContentConfig", want)
	}
	return a
}

func (r reader) overrides(at string, v any) (all []override) {
	list, ok := v.([]any)
	if v != nil && !ok {
		r.fail(at, "a list")
	}
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		one := r.object(at, v)
		match := r.object(at+".match", one["match"])
		o := override{alias: r.config(at, one["modelConfig"]), keys: len(match)}
		o.model = r.text(at+".match.model", match["model"])
		o.scope = r.text(at+".match.overrideScope", match["overrideScope"])
		if v, ok := match["isRetry"]; ok {
			again, ok := v.(bool)
			if !ok {
				r.fail(at+".match.isRetry", "true or false")
			}
			o.again = &again
		}
		all = append(all, o)
	}
	return all
}

// decode reads settings as the API takes them.
func decode(config map[string]any, into *genai.GenerateContentConfig) error {
	if len(config) == 0 {
		return nil
	}
	b, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
