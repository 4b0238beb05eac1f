// Package schema holds the JSON Schemas of gemline's output for programs.
//
// # Schemas allow later additions
//
// The schemas are for readers of the output. They allow unknown fields and types of records, which
// later versions may add. The tests forbid unknown fields, so that each field has a description.
//
// # Versions only add
//
// Within a version, fields, types of records and values are only added.
package schema

import (
	"bytes"
	"embed"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names returns the names of the schemas, in order.
func Names() []string {
	list, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the schemas are embedded
	}
	var names []string
	for _, f := range list {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}

// Text returns the schema with a name, a JSON Schema 2020-12 document that ends with a newline. Ok
// is false if there is none.
func Text(name string) (text []byte, ok bool) {
	b, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, false
	}
	return bytes.Replace(b, []byte(`{"$comment": "result.json"}`), embedded(), 1), true
}

// embedded returns the schema of a run's document, renamed, as a part of another schema: an item of
// a batch extends such a document.
func embedded() []byte {
	b, err := files.ReadFile("result.json")
	if err != nil {
		panic(err) // the schema is embedded
	}
	b = bytes.Replace(bytes.TrimSpace(b), []byte("{\n"), []byte("{\n  \"$id\": \"urn:gemline:result\",\n"), 1)
	return bytes.ReplaceAll(b, []byte("\n"), []byte("\n    "))
}
