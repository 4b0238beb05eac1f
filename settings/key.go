package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemline/engine/charset"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/jsonc"
)

// A Status says how gemline handles a key.
type Status string

// The values of Status.
const (
	Used    Status = "in use"
	Later   Status = "not in use yet"
	Ignored Status = "accepted, without effect"
)

// The types of values. " or " separates the types of a key with several.
const (
	isBool    = "boolean"
	isWhole   = "whole number"
	isNumber  = "number"
	isText    = "string"
	isAge     = "age"
	isCharset = "encoding"
	isList    = "list of strings"
	isObjects = "list of objects"
	isObject  = "object"
	isAny     = "any value"
)

// A Key is one setting. Its values are values of JSON: bool, string, [json.Number], []any,
// map[string]any.
type Key struct {
	Name   string
	Type   string   // such as "boolean" or "string or list of strings"
	Enum   []string // the allowed words of a string; nil allows any
	Merge  string   // how files combine: "" takes the strongest; concat, union, shallow, intersect
	Status Status
	Help   string

	fallback any
	wildcard bool                // its name has a placeholder, such as the command of each server
	field    func(*Settings) any // the field with its value, nil for none
	legacy   []legacyName        // its older names
	near     string              // a common wrong name; may be empty
	env      []string
	wants    string // the boolean that asks for the feature, if not true
	span     span
	safety   safety
}

// A safety describes the effect of values on the user's protection.
type safety struct {
	project string // the values that a project may set
	strict  bool   // an unreadable value ends the run
	misread string // the effect of ignoring an unreadable value
	risk    string // how the key weakens the protection
}

// A legacyName is an older name of a key.
type legacyName struct {
	from, to string
	only     string // the type of values under the older name; "" is any
	inverted bool
}

// Default returns the value of an unset key, nil if there is none.
func (k Key) Default() any { return k.fallback }

// Parse parses a text of the command line as a value.
func (k Key) Parse(s string) (any, error) {
	for _, last := range []bool{false, true} { // any text is a string
		for _, kind := range k.kinds() {
			if v, ok := spelled(kind, s); ok && k.allows(v) && last == (kind == isText) {
				return v, nil
			}
		}
	}
	return nil, k.mismatch(s)
}

// Check returns the error of a value, also of the keys in an object.
func (k Key) Check(v any) error {
	path, err := SplitKey(k.Name)
	if err != nil {
		return err
	}
	c := checker{exact: true}
	if c.check(path, v); len(c.problems) > 0 {
		return errors.New(c.problems[0].Advised())
	}
	return nil
}

// coerce converts v to the key's type: from a string to a boolean or a number.
func (k Key) coerce(v any) (any, error) {
	for _, kind := range k.kinds() {
		if out, ok := exact(kind, v); ok && k.allows(out) {
			return out, nil
		}
	}
	if items, is := v.([]any); is && isArguments(k.Name) {
		if out, ok := exact(isList, lists.Map(items, worded)); ok {
			return out, nil
		}
	}
	s, is := v.(string)
	for _, kind := range k.kinds() {
		if kind != isBool && kind != isWhole && kind != isNumber || !is {
			continue
		}
		if out, ok := spelled(kind, strings.TrimSpace(s)); ok && k.allows(out) {
			return out, nil
		}
	}
	return nil, k.mismatch(v)
}

// isArguments reports whether a key holds the arguments of an MCP server.
func isArguments(name string) bool {
	return strings.HasPrefix(name, "mcpServers.") && strings.HasSuffix(name, ".args")
}

// worded converts a number or a boolean among arguments to text: ["--port", 8080].
func worded(item any) any {
	if n, is := numeral(item); is {
		return n
	}
	if b, is := item.(bool); is {
		return strconv.FormatBool(b)
	}
	return item
}

func (k Key) kinds() []string { return strings.Split(k.Type, " or ") }

// is reports whether the key allows a type.
func (k Key) is(kind string) bool { return slices.Contains(k.kinds(), kind) }

// allows reports whether v is an allowed word, or a number in the key's range.
func (k Key) allows(v any) bool {
	if n, is := v.(json.Number); is {
		return k.span.holds(n)
	}
	s, is := v.(string)
	return !is || k.Enum == nil || slices.Contains(k.Enum, s)
}

// exact returns v if it is of a type.
func exact(kind string, v any) (any, bool) {
	ok := false
	switch kind {
	case isAny:
		ok = true
	case isBool:
		_, ok = v.(bool)
	case isText, isAge, isCharset:
		s, is := v.(string)
		ok = is && means(kind, s)
	case isWhole, isNumber:
		if n, is := numeral(v); is {
			return spelled(kind, n)
		}
	case isObject:
		_, ok = v.(map[string]any)
	case isList:
		ok = all(v, func(item any) bool { _, is := item.(string); return is })
	case isObjects:
		ok = all(v, func(item any) bool { _, is := item.(map[string]any); return is })
	}
	return v, ok
}

// means reports whether a string has a meaning as a value of a type.
func means(kind, s string) bool {
	switch kind {
	case isAge:
		_, err := text.ParseAge(s)
		return err == nil
	case isCharset:
		return s == "" || charset.Name(s) != ""
	}
	return true
}

// item reports whether v is allowed in the key's lists.
func (k Key) item(v any) bool {
	_, text := v.(string)
	_, object := v.(map[string]any)
	return text && k.is(isList) || object && k.is(isObjects)
}

func all(v any, fits func(any) bool) bool {
	items, ok := v.([]any)
	return ok && !slices.ContainsFunc(items, func(item any) bool { return !fits(item) })
}

// numeral returns the digits of a number.
func numeral(v any) (string, bool) {
	switch n := v.(type) {
	case json.Number:
		return n.String(), true
	case float64:
		return strconv.FormatFloat(n, 'g', -1, 64), true
	case int:
		return strconv.Itoa(n), true
	case int64:
		return strconv.FormatInt(n, 10), true
	}
	return "", false
}

// spelled parses s as a value of a type.
func spelled(kind, s string) (any, bool) {
	switch kind {
	case isBool:
		return s == "true", s == "true" || s == "false"
	case isText, isAge, isCharset:
		return s, utf8.ValidString(s) && means(kind, s)
	case isWhole, isNumber:
		return numberOf(kind, s)
	case isList:
		if strings.HasPrefix(strings.TrimSpace(s), "[") {
			return parsed(kind, s)
		}
		items := []any{}
		for _, item := range text.Entries(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items, utf8.ValidString(s)
	case isAny:
		if v, ok := parsed(kind, s); ok {
			return v, true
		}
		return s, utf8.ValidString(s)
	}
	return parsed(kind, s)
}

func parsed(kind, s string) (any, bool) {
	v, err := jsonc.Value([]byte(s))
	if err != nil {
		return nil, false
	}
	return exact(kind, v)
}

// numberOf parses s as a number.
func numberOf(kind, s string) (any, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(s, "xXpP_+") && !json.Valid([]byte(s)) {
		return nil, false
	}
	if kind == isNumber {
		if json.Valid([]byte(s)) {
			return json.Number(s), true
		}
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), true
	}
	if math.Abs(f) > largest || f != math.Trunc(f) {
		return nil, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// set sets the key's field to a converted value.
func (k Key) set(s *Settings, v any) {
	switch field := k.field(s).(type) {
	case *string:
		*field, _ = v.(string)
	case *bool:
		*field, _ = v.(bool)
	case *int:
		n, _ := v.(json.Number)
		f, _ := n.Float64()
		*field = int(f)
	case *float64:
		n, _ := v.(json.Number)
		*field, _ = n.Float64()
	case *[]string:
		if word, alone := v.(string); alone {
			v = []any{word}
		}
		*field = words(v)
	}
}

// words returns the strings of a JSON list.
func words(list any) []string {
	items, _ := list.([]any)
	return lists.Map(items, func(item any) string {
		word, _ := item.(string)
		return word
	})
}

// items returns words as a JSON list.
func items(words []string) []any {
	return lists.Map(words, func(word string) any { return word })
}

// combine joins the values of a weaker and a stronger source.
func (k Key) combine(lower, higher any) any {
	a, ok := lower.([]any)
	b, both := higher.([]any)
	if !ok || !both {
		return higher
	}
	out := []any{}
	switch k.Merge {
	case "concat":
		return append(append(out, a...), b...)
	case "union":
		seen := map[string]bool{}
		for _, item := range append(append([]any{}, a...), b...) {
			if word, is := item.(string); !is || !seen[word] {
				seen[word] = true
				out = append(out, item)
			}
		}
		return out
	case "intersect":
		return lists.Filter(a, func(item any) bool {
			return slices.ContainsFunc(b, func(other any) bool { return sameName(item, other) })
		})
	}
	return higher
}

// sameName reports whether two items name the same server.
func sameName(a, b any) bool {
	x, ok := a.(string)
	y, both := b.(string)
	return ok && both && strings.EqualFold(strings.TrimSpace(x), strings.TrimSpace(y))
}

func (k Key) mismatch(v any) error {
	if list, is := v.([]any); is && (k.is(isList) || k.is(isObjects)) { // a list with other items
		for _, item := range list {
			if !k.item(item) {
				return fmt.Errorf("%s must be %s, and %s in it is none", shown(k.Name), k.Wants(), jsonc.Describe(item))
			}
		}
	}
	return fmt.Errorf("%s must be %s, not %s", shown(k.Name), k.Wants(), jsonc.Describe(v))
}

// Range describes the allowed numbers, for use after the type, "" if all are allowed.
func (k Key) Range() string { return k.span.String() }

// Wants describes the allowed values.
func (k Key) Wants() string {
	var words []string
	for _, kind := range k.kinds() {
		switch {
		case kind == isBool:
			kind = "true or false"
		case kind == isAge:
			kind = "an age such as 12h, 30d, 8w or 6m"
		case kind == isCharset:
			kind = "an encoding such as windows-1251, gbk, big5 or shift_jis"
		case kind == isText && len(k.Enum) > 3:
			kind = "one of " + strings.Join(k.Enum, ", ")
		case kind == isText && k.Enum != nil:
			kind = strings.Join(k.Enum, " or ")
		case kind == isObject:
			kind = "an object"
		case kind != isAny:
			kind = "a " + kind + k.Range()
		}
		words = append(words, kind)
	}
	return strings.Join(words, " or ")
}
