package preset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// An Error is a mistake in the settings.
type Error struct{ what, advice string }

// Error implements error.
func (e *Error) Error() string { return e.what }

// Hint says what to do about it.
func (e *Error) Hint() string { return e.advice }

// A reader converts settings to aliases and overrides, and stores the first error.
type reader struct {
	err     *error
	unknown *[]string // as in [Table]
}

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
	for name, one := range r.entries(at, v) {
		at := at + "." + name
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
	unknown, err := decode(a.config, &genai.GenerateContentConfig{})
	if unknown != "" {
		*r.unknown = append(*r.unknown, fmt.Sprintf("modelConfigs.%s.generateContentConfig: requests have no parameter %s; it is not sent", at, unknown))
	}
	if err != nil {
		want := "what the API takes"
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			want += ": " + wrong.Field + " is a " + wrong.Value
		}
		r.fail(at+".generateContentConfig", want)
	}
	return a
}

func (r reader) overrides(at string, v any) (all []override) {
	for i, v := range r.list(at, v) {
		at := fmt.Sprintf("%s[%d]", at, i)
		one := r.object(at, v)
		match := r.object(at+".match", one["match"])
		understood := r.only(at, one, "match", "modelConfig") && r.only(at+".match", match, "model", "overrideScope", "isRetry")
		o := override{alias: r.config(at, one["modelConfig"]), keys: len(match)}
		o.model = r.text(at+".match.model", match["model"])
		o.scope = r.text(at+".match.overrideScope", match["overrideScope"])
		if v, ok := match["isRetry"]; ok {
			o.again = new(r.flag(at+".match.isRetry", v, false))
		}
		if understood {
			all = append(all, o)
		}
	}
	return all
}

// only reports whether an override has no other keys than the given ones, and notes another key.
func (r reader) only(at string, m map[string]any, keys ...string) bool {
	for _, key := range sorted(m) {
		if !slices.Contains(keys, key) {
			*r.unknown = append(*r.unknown, fmt.Sprintf("modelConfigs.%s: %q means nothing there, and the override is not used; there are %s", at, key, text.List(keys)))
			return false
		}
	}
	return true
}

// entries returns the objects below the key of that name, in order.
func (r reader) entries(at string, v any) iter.Seq2[string, map[string]any] {
	m := r.object(at, v)
	return func(yield func(string, map[string]any) bool) {
		for _, name := range sorted(m) {
			if !yield(name, r.object(at+"."+name, m[name])) {
				return
			}
		}
	}
}

// flag returns v as true or false, and otherwise if v is nil.
func (r reader) flag(at string, v any, otherwise bool) bool {
	is, ok := v.(bool)
	if v == nil {
		return otherwise
	}
	if !ok {
		r.fail(at, "true or false")
	}
	return is
}

// number returns v as a whole number that is not negative.
func (r reader) number(at string, v any) int {
	n, err := strconv.ParseInt(fmt.Sprint(cmp.Or(v, any(0))), 10, 32)
	if err != nil || n < 0 {
		r.fail(at, "a whole number")
	}
	return int(n)
}

// list returns v as a list; none is empty.
func (r reader) list(at string, v any) []any {
	list, ok := v.([]any)
	if v != nil && !ok {
		r.fail(at, "a list")
	}
	return list
}

// sorted returns the keys of m in order, so that the first of several mistakes is always the
// same.
func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func (r reader) tables(configs map[string]any, access Access) (t tables) {
	t.definitions = map[string]definition{}
	const definitions, chains = "modelDefinitions", "modelChains"
	for name, one := range r.entries(definitions, configs[definitions]) {
		at := definitions + "." + name
		features := r.object(at+".features", one["features"])
		t.definitions[name] = definition{
			tier:   r.text(at+".tier", one["tier"]),
			family: r.text(at+".family", one["family"]),
			note: strings.Trim(r.text(at+".displayName", one["displayName"])+", "+
				r.text(at+".dialogDescription", one["dialogDescription"]), ", "),
			hidden:      !r.flag(at+".isVisible", one["isVisible"], true),
			thoughtless: !r.flag(at+".features.thinking", features["thinking"], true),
			tokens:      r.number(at+".tokenLimit", one["tokenLimit"])}
	}
	t.ids = r.resolutions("modelIdResolutions", configs, access)
	t.classes = r.resolutions("classifierIdResolutions", configs, access)
	m := r.object(chains, configs[chains])
	for _, name := range sorted(m) {
		t.chains = append(t.chains, r.chain(chains+"."+name, m[name]))
	}
	return t
}

func (r reader) resolutions(key string, configs map[string]any, access Access) map[string]resolution {
	all := map[string]resolution{}
	for name, one := range r.entries(key, configs[key]) {
		all[name] = r.resolution(key+"."+name, one, access)
	}
	return all
}

func (r reader) resolution(at string, one map[string]any, access Access) (res resolution) {
	if res.target = r.text(at+".default", one["default"]); res.target == "" {
		r.fail(at+".default", "the name of a model")
	}
	for i, v := range r.list(at+".contexts", one["contexts"]) {
		at := fmt.Sprintf("%s.contexts[%d]", at, i)
		context := r.object(at, v)
		c := instance{holds: true}
		if c.target = r.text(at+".target", context["target"]); c.target == "" {
			r.fail(at+".target", "the name of a model")
		}
		conditions := r.object(at+".condition", context["condition"])
		for _, name := range sorted(conditions) {
			at, is := at+".condition."+name, false
			switch {
			case name == "requestedModels":
				c.wanted = []string{}
				for _, v := range r.list(at, conditions[name]) {
					c.wanted = append(c.wanted, r.text(at, v))
				}
				continue
			case name == "hasAccessToPreview":
				is = true
			case name == "useCustomTools":
				is = access == ByKey
			case strings.HasPrefix(name, "useGemini3"), strings.HasPrefix(name, "useLatest"):
				is = access != ByAssist
			default:
				r.fail(at, "a condition that is known")
			}
			c.holds = c.holds && r.flag(at, conditions[name], is) == is
		}
		res.cases = append(res.cases, c)
	}
	return res
}

func (r reader) chain(at string, v any) (chain []ChainModel) {
	for i, v := range r.list(at, v) {
		at := fmt.Sprintf("%s[%d]", at, i)
		one := r.object(at, v)
		s := ChainModel{Model: r.text(at+".model", one["model"]), Attempts: r.number(at+".maxAttempts", one["maxAttempts"]),
			Last:   r.flag(at+".isLastResort", one["isLastResort"], false),
			silent: map[string]bool{}, states: map[string]string{}}
		if s.Model == "" {
			r.fail(at+".model", "the name of a model")
		}
		actions := r.object(at+".actions", one["actions"])
		for _, way := range sorted(actions) {
			if s.silent[way] = actions[way] == "silent"; !s.silent[way] && actions[way] != "prompt" {
				r.fail(at+".actions."+way, "silent or prompt")
			}
		}
		states := r.object(at+".stateTransitions", one["stateTransitions"])
		for _, way := range sorted(states) {
			s.states[way] = r.text(at+".stateTransitions."+way, states[way])
		}
		chain = append(chain, s)
	}
	return chain
}

// decode reads settings in the API's form, and returns the first unknown parameter in quotation
// marks, "" if all are known.
func decode(config map[string]any, into *genai.GenerateContentConfig) (unknown string, err error) {
	if len(config) == 0 {
		return "", nil
	}
	b, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	// The usual settings are decoded separately, since encoding/json needs long to analyze all
	// types of the API.
	var usual struct {
		Temperature, TopP, TopK *float32
		MaxOutputTokens         int32
		ThinkingConfig          *genai.ThinkingConfig
		Tools                   []struct {
			GoogleSearch *genai.GoogleSearch
			URLContext   *genai.URLContext
		}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&usual) != nil {
		d = json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(new(genai.GenerateContentConfig)); err != nil {
			_, unknown, _ = strings.Cut(err.Error(), "unknown field ")
		}
		return unknown, json.Unmarshal(b, into)
	}
	into.Temperature, into.TopP, into.TopK = usual.Temperature, usual.TopP, usual.TopK
	into.MaxOutputTokens, into.ThinkingConfig = usual.MaxOutputTokens, usual.ThinkingConfig
	for _, t := range usual.Tools {
		into.Tools = append(into.Tools, &genai.Tool{GoogleSearch: t.GoogleSearch, URLContext: t.URLContext})
	}
	return "", nil
}
