package mcp

import (
	"bytes"
	"encoding/json"
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

// DeclaredSchema returns a schema reduced to what may be declared: an object's schema, not too
// large or deep, with the keywords that the API knows, and without dangling references.
func DeclaredSchema(raw json.RawMessage) json.RawMessage {
	var whole map[string]any
	if len(raw) > mostSchema || json.Unmarshal(raw, &whole) != nil || whole == nil {
		return anyObject
	}
	c := cleaner{defs: map[string]bool{}}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := whole[key].(map[string]any)
		for name := range defs {
			c.defs[name] = true
		}
	}
	out := c.schema(whole, 0)
	out["type"] = "object"
	if _, ok := out["properties"].(map[string]any); !ok {
		out["properties"] = map[string]any{}
	}
	b, err := json.Marshal(out)
	if err != nil || len(b) > mostSchema {
		return anyObject
	}
	return b
}

// A cleaner takes what can't be declared out of a schema.
type cleaner struct {
	defs map[string]bool // the names of the definitions
}

// The supported keywords of a schema, by the kind of their values. The API refuses the
// whole request for a value of another kind.
var (
	plainWords = map[string]func(any) bool{"format": isText, "pattern": isText,
		"minimum": isNumber, "maximum": isNumber, "exclusiveMinimum": isNumber, "exclusiveMaximum": isNumber,
		"minItems": isNumber, "maxItems": isNumber, "minLength": isNumber, "maxLength": isNumber,
		"minProperties": isNumber, "maxProperties": isNumber, "nullable": isTruth, "uniqueItems": isTruth,
		"required": isNames, "enum": isChoice, "default": func(any) bool { return true }}
	textWords   = []string{"title", "description"}
	schemaWords = []string{"items", "additionalProperties", "not"}
	listWords   = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
)

func isText(v any) bool   { _, ok := v.(string); return ok }
func isNumber(v any) bool { _, ok := v.(float64); return ok }
func isTruth(v any) bool  { _, ok := v.(bool); return ok }
func isChoice(v any) bool { list, _ := v.([]any); return len(list) > 0 }
func isNames(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { return !isText(one) })
}

// schema returns what is kept of a schema.
func (c *cleaner) schema(in map[string]any, depth int) map[string]any {
	out := map[string]any{}
	if depth > deepestSchema {
		return out
	}
	if ref, ok := in["$ref"].(string); ok {
		if name := ref[strings.LastIndexByte(ref, '/')+1:]; c.defs[name] && strings.HasPrefix(ref, "#/") {
			return map[string]any{"$ref": "#/$defs/" + name}
		}
		if ref == "#" {
			return map[string]any{"type": "object"}
		}
	}
	for word, is := range plainWords {
		if v, ok := in[word]; ok && is(v) {
			out[word] = v
		}
	}
	for _, word := range textWords {
		if v, ok := in[word].(string); ok {
			out[word] = clean(v, longestWords)
		}
	}
	for _, word := range schemaWords {
		switch v := in[word].(type) {
		case map[string]any:
			out[word] = c.schema(v, depth+1)
		case bool:
			if word == "additionalProperties" {
				out[word] = v
			}
		}
	}
	for _, word := range listWords {
		if list, ok := in[word].([]any); ok {
			out[word] = c.list(list, depth+1)
		}
	}
	c.kind(in, out)
	c.named(in, out, depth+1)
	return out
}

// kind puts the type into out. That a value may be null is said beside the one type it has.
func (c *cleaner) kind(in, out map[string]any) {
	if v, ok := in["const"]; ok {
		out["enum"] = []any{v}
	}
	switch v := in["type"].(type) {
	case string:
		if name := typeName(v); name != "" {
			out["type"] = name
		}
	case []any:
		v = typeNames(v)
		rest := slices.DeleteFunc(slices.Clone(v), func(one any) bool { return one == "null" })
		if len(rest) < len(v) {
			out["nullable"] = true
		}
		switch {
		case len(rest) == 1:
			out["type"] = rest[0]
		case len(rest) > 1:
			out["type"] = rest
		}
	}
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

// typeName returns the type of JSON Schema that a name stands for, "" if there is none.
func typeName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for is, others := range typeOf { // a name is in one list only
		if name == is || slices.Contains(others, name) {
			return is
		}
	}
	return ""
}

// typeNames returns the types that names stand for, each once.
func typeNames(names []any) (types []any) {
	for _, one := range names {
		s, _ := one.(string)
		if name := typeName(s); name != "" && !slices.Contains(types, any(name)) {
			types = append(types, name)
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

// list returns what is kept of schemas.
func (c *cleaner) list(in []any, depth int) (out []any) {
	for _, one := range in {
		if s, ok := one.(map[string]any); ok {
			out = append(out, c.schema(s, depth))
		}
	}
	return out
}

// named puts what is kept of schemas by names into out.
func (c *cleaner) named(in, out map[string]any, depth int) {
	for word, as := range map[string]string{"properties": "properties", "$defs": "$defs", "definitions": "$defs"} {
		all, ok := in[word].(map[string]any)
		if !ok || as == "$defs" && depth > 1 {
			continue
		}
		kept, _ := out[as].(map[string]any)
		if kept == nil {
			kept = map[string]any{}
		}
		for name, one := range all {
			switch s := one.(type) {
			case map[string]any:
				kept[name] = c.schema(s, depth)
			case bool:
				kept[name] = map[string]any{}
			}
		}
		out[as] = kept
	}
}
