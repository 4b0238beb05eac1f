package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gemline/engine/schema"
)

// anyObject is the schema of arguments without a known schema.
var anyObject = json.RawMessage(`{"type":"object","properties":{}}`)

const (
	deepestSchema = 32
	longestWords  = 2000 // characters of a description within a schema
)

// DeclaredSchema returns a schema that may be declared: an object's schema, not too
// large or deep, with the keywords that the API knows, and without dangling references.
func DeclaredSchema(raw json.RawMessage) json.RawMessage {
	var whole map[string]any
	if len(raw) > mostSchema || json.Unmarshal(raw, &whole) != nil || whole == nil {
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

// A cleaner takes undeclarable keywords out of a schema.
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
	if several && slices.Contains(types, any("null")) { // which is said beside the others
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

// keep returns the value of a keyword in the form that the API takes, and false if it has none: for
// a value of a wrong kind the API refuses the whole request. Schemas in the value are at depth.
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

// named returns schemas by their names, each in the form that the API takes.
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

// typeOf has the types of JSON Schema by what servers call them in the words of their own
// language. A type that is not known is not declared: the API would refuse the whole request.
var typeOf = map[string][]string{
	"string":  {"str", "text", "char", "varchar", "uuid", "date", "datetime", "date-time", "path", "url", "uri", "enum"},
	"integer": {"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "long", "short", "bigint", "i32", "i64", "u32", "u64"},
	"number":  {"float", "float32", "float64", "double", "decimal", "numeric", "real", "f32", "f64"},
	"boolean": {"bool"},
	"array":   {"list", "tuple", "set", "sequence"},
	"object":  {"dict", "map", "struct", "record", "json"},
	"null":    {"none", "nil", "nonetype"},
}

// typeNames returns the types of JSON Schema that names stand for, each once.
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

// shapeOf returns the schema that arguments are checked against, nil if it is unknown. An
// unsound schema, such as one with another language's types, is replaced by its declared
// form.
func shapeOf(raw json.RawMessage) *schema.Schema {
	shape, err := schema.Parse(raw)
	if err != nil && !bytes.Contains(raw, []byte("patternProperties")) {
		shape, _ = schema.Parse(DeclaredSchema(raw))
	}
	return shape
}
