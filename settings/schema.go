package settings

import "encoding/json"

// Schema returns a JSON Schema of settings files, for editors. Like the program it accepts older
// names, strings that spell booleans and numbers, and variables.
func Schema() map[string]any {
	root := &node{}
	for _, o := range olderNames() {
		root.add(o.key())
	}
	for i := range table {
		if table[i].Type != "" {
			root.add(&table[i])
		}
	}
	s := root.schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Settings of gemline and the Gemini CLI"
	return s
}

// key returns the key for an older name.
func (o legacyName) key() *Key {
	k := &Key{Name: o.from, Type: isAny, Status: renamed, Help: "Called " + o.to + " today."}
	if o.from == "model" { // today it is an object
		k.Type = isText + " or " + isObject
	}
	return k
}

// renamed is the status of an older name.
const renamed Status = "renamed"

// schema returns the schema of a value at n.
func (n *node) schema() map[string]any {
	var forms []any
	if n.key != nil {
		for _, kind := range n.key.kinds() {
			if kind != isObject {
				forms = append(forms, n.key.form(kind))
			}
		}
	}
	if n.key == nil || n.key.is(isObject) {
		forms = append(forms, n.object())
	}
	s := map[string]any{"anyOf": forms}
	if len(forms) == 1 {
		s = forms[0].(map[string]any)
	}
	if n.key == nil {
		return s
	}
	s["description"] = n.key.Help
	switch n.key.Status {
	case renamed:
		s["deprecated"] = true
	case Later, Ignored:
		s["description"] = n.key.Help + " (" + string(n.key.Status) + ")"
	}
	if n.key.fallback != nil {
		s["default"] = n.key.fallback
	}
	return s
}

// object describes an object and the keys in it.
func (n *node) object() map[string]any {
	s := map[string]any{"type": "object"}
	if n.open() {
		return s
	}
	if n.wildcard != nil {
		s["additionalProperties"] = n.wildcard.schema()
	} else {
		s["additionalProperties"] = false
	}
	properties := map[string]any{}
	for name, below := range n.below {
		properties[name] = below.schema()
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	return s
}

// form returns the schema of values of a type. Any string with a dollar sign is allowed, since its
// variables are expanded later.
func (k Key) form(kind string) map[string]any {
	switch kind {
	case isBool:
		return map[string]any{"type": []string{"boolean", "string"}, "pattern": `^\s*(true|false)\s*$|\$`}
	case isWhole:
		return k.ranged(map[string]any{"type": []string{"integer", "string"}, "pattern": `^\s*-?[0-9]+\s*$|\$`})
	case isNumber:
		return k.ranged(map[string]any{"type": []string{"number", "string"},
			"pattern": `^\s*-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*$|\$`})
	case isText:
		if k.Enum != nil {
			return map[string]any{"anyOf": []any{map[string]any{"enum": k.Enum},
				map[string]any{"type": "string", "pattern": `\$`}}}
		}
		return map[string]any{"type": "string"}
	case isAge:
		return map[string]any{"type": "string", "pattern": `^[0-9]+[hdwm]$|\$`}
	case isCharset:
		return map[string]any{"type": "string"}
	case isList:
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	case isObjects:
		return map[string]any{"type": "array", "items": map[string]any{"type": "object"}}
	}
	return map[string]any{}
}

// ranged adds the range of a number to a schema.
func (k Key) ranged(s map[string]any) map[string]any {
	for word, n := range map[string]json.Number{"minimum": k.span.least, "maximum": k.span.most} {
		if n != "" {
			s[word] = n
		}
	}
	return s
}
