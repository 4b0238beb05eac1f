package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gemline/engine/schema"
	"gemline/engine/text"
)

// anyObject is the schema of arguments without a known schema.
var anyObject = json.RawMessage(`{"type":"object","properties":{}}`)

const (
	deepestSchema = 32
	longestWords  = 2000 // characters of a description within a schema
)

// DeclaredSchema returns a schema that can be declared: an object's schema, limited in size
// and depth, with only keywords of the API, and without dangling references.
func DeclaredSchema(raw json.RawMessage) json.RawMessage {
	var whole map[string]any
	if len(raw) > mostSchema || text.Unmarshal(raw, &whole) != nil || whole == nil {
		return anyObject
	}
	c := cleaner{defs: map[string]any{}}
	for _, key := range []string{"definitions", "$defs"} {
		defs, _ := whole[key].(map[string]any)
		maps.Copy(c.defs, defs)
	}
	out := c.schema(whole, 0)
	out["type"] = "object"
	if _, ok := out["properties"].(map[string]any); !ok {
		out["properties"] = map[string]any{}
	}
	if len(c.defs) > 0 {
		out["$defs"] = c.named(c.defs, 1)
	}
	b, _ := json.Marshal(out)
	if len(b) > mostSchema {
		return anyObject
	}
	return b
}

// A cleaner removes unsupported keywords from a schema.
type cleaner struct {
	defs map[string]any // the definitions, by name
}

// schema returns the declarable part of a schema.
func (c *cleaner) schema(in map[string]any, depth int) map[string]any {
	out := map[string]any{}
	if depth > deepestSchema {
		return out
	}
	if ref, ok := in["$ref"].(string); ok {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		if _, known := c.defs[name]; known && strings.HasPrefix(ref, "#/") {
			return map[string]any{"$ref": "#/$defs/" + name}
		}
		if ref == "#" {
			return map[string]any{"type": "object"}
		}
	}
	for word, v := range in {
		if kept, ok := c.keep(word, v, depth+1); ok {
			out[word] = kept
		}
	}
	if v, ok := in["const"]; ok {
		out["enum"] = []any{v}
	}
	types, several := in["type"].([]any)
	if !several {
		types = []any{in["type"]}
	}
	types = typeNames(types)
	if several && slices.Contains(types, any("null")) { // null is declared as nullable
		out["nullable"] = true
		types = slices.DeleteFunc(types, func(one any) bool { return one == "null" })
	}
	switch len(types) {
	case 0:
	case 1:
		out["type"] = types[0]
	default:
		out["type"] = types
	}
	return out
}

// keep returns the value of a keyword in the form of the API, and false if there is none:
// the API refuses the whole request for a value of a wrong type. Schemas in the value are at
// depth.
func (c *cleaner) keep(word string, v any, depth int) (kept any, ok bool) {
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	switch word {
	case "default":
		ok = true
	case "format", "pattern":
		_, ok = v.(string)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
		"minLength", "maxLength", "minProperties", "maxProperties":
		_, ok = v.(float64)
		_, long := v.(json.Number)
		ok = ok || long
	case "nullable", "uniqueItems":
		_, ok = v.(bool)
	case "enum":
		ok = len(list) > 0
	case "required":
		ok = isList && !slices.ContainsFunc(list, func(one any) bool { _, isText := one.(string); return !isText })
	case "title", "description":
		text, isText := v.(string)
		return clean(text, longestWords), isText
	case "items", "additionalProperties", "not":
		if isObject {
			return c.schema(object, depth), true
		}
		_, isTruth := v.(bool)
		ok = isTruth && word == "additionalProperties"
	case "anyOf", "oneOf", "allOf", "prefixItems":
		var schemas []any
		for _, one := range list {
			if s, isSchema := one.(map[string]any); isSchema {
				schemas = append(schemas, c.schema(s, depth))
			}
		}
		return schemas, len(schemas) > 0
	case "properties":
		return c.named(object, depth), isObject
	}
	return v, ok
}

// named returns schemas by their names, in the form of the API.
func (c *cleaner) named(all map[string]any, depth int) map[string]any {
	kept := map[string]any{}
	for name, one := range all {
		switch s := one.(type) {
		case map[string]any:
			kept[name] = c.schema(s, depth)
		case bool:
			kept[name] = map[string]any{}
		}
	}
	return kept
}

// typeOf lists, for each type of JSON Schema, its names in other languages, which some
// servers use. Unknown types are not declared: the API would refuse the whole request.
var typeOf = map[string][]string{
	"string":  {"str", "text", "char", "varchar", "uuid", "date", "datetime", "date-time", "path", "url", "uri", "enum"},
	"integer": {"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "long", "short", "bigint", "i32", "i64", "u32", "u64"},
	"number":  {"float", "float32", "float64", "double", "decimal", "numeric", "real", "f32", "f64"},
	"boolean": {"bool"},
	"array":   {"list", "tuple", "set", "sequence"},
	"object":  {"dict", "map", "struct", "record", "json"},
	"null":    {"none", "nil", "nonetype"},
}

// typeNames converts names of types to types of JSON Schema, without duplicates.
func typeNames(names []any) (types []any) {
	for _, one := range names {
		s, _ := one.(string)
		s = strings.ToLower(strings.TrimSpace(s))
		for is, others := range typeOf { // a name is in one list only
			if (s == is || slices.Contains(others, s)) && !slices.Contains(types, any(is)) {
				types = append(types, is)
			}
		}
	}
	return types
}

// shapeOf returns the schema for checking arguments, nil if it is unknown. An invalid
// schema, for example with types of another language, is replaced by its declared form.
func shapeOf(raw json.RawMessage) *schema.Schema {
	shape, err := schema.Parse(WithNull(raw))
	if err != nil && !bytes.Contains(raw, []byte("patternProperties")) {
		shape, _ = schema.Parse(WithNull(DeclaredSchema(raw)))
	}
	return shape
}

// WithNull returns a schema in which null is a type wherever the schema says nullable, a keyword of
// OpenAPI, which is declared, but means nothing to a check.
func WithNull(raw json.RawMessage) json.RawMessage {
	var v any
	if !bytes.Contains(raw, []byte(`"nullable"`)) || text.Unmarshal(raw, &v) != nil {
		return raw
	}
	addNull(v)
	b, _ := json.Marshal(v) // no error, since it was JSON
	return b
}

func addNull(v any) {
	if list, isList := v.([]any); isList {
		for _, one := range list {
			addNull(one)
		}
	}
	s, _ := v.(map[string]any)
	for word, one := range s {
		if fields, named := one.(map[string]any); word == "properties" && named {
			addNull(slices.Collect(maps.Values(fields)))
		} else if !slices.Contains([]string{"default", "enum", "const", "examples"}, word) {
			addNull(one)
		}
	}
	if s["nullable"] != true {
		return
	}
	switch t := s["type"].(type) {
	case string:
		s["type"] = []any{t, "null"}
	case []any:
		if !slices.Contains(t, any("null")) {
			s["type"] = append(t, "null")
		}
	}
	if all, ok := s["allOf"]; ok && s["anyOf"] == nil {
		s["anyOf"] = []any{map[string]any{"allOf": all}}
		delete(s, "allOf")
	}
	for word, null := range map[string]any{"enum": nil, "anyOf": map[string]any{"type": "null"}, "oneOf": map[string]any{"type": "null"}} {
		if list, ok := s[word].([]any); ok && !slices.ContainsFunc(list, func(one any) bool { return reflect.DeepEqual(one, null) }) {
			s[word] = append(list, null)
		}
	}
}
