// Package schema holds the JSON Schemas of what gemline writes for programs.
//
// # For whom
//
// The schemas are for those who read the output, and therefore take fields and
// types of records that they don't know: later versions have more of them. The
// tests check written records by the same schemas with nothing unknown allowed,
// so that there is no field without a description.
//
// # Within a version
//
// Fields, types of records and values are only ever added.
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
		panic(err) // they are part of the program
	}
	var names []string
	for _, f := range list {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}

// Text returns the schema of a name, a document of JSON Schema 2020-12 that
// ends with a newline; ok is false if there is none.
func Text(name string) (text []byte, ok bool) {
	b, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, false
	}
	return bytes.Replace(b, []byte(`{"$comment": "result.json"}`), embedded(), 1), true
}

// embedded returns the schema of a run's document as a part of another one,
// under a name of its own: an item of a batch is such a document and more.
func embedded() []byte {
	b, err := files.ReadFile("result.json")
	if err != nil {
		panic(err) // it is part of the program
	}
	b = bytes.Replace(bytes.TrimSpace(b), []byte("{\n"), []byte("{\n  \"$id\": \"urn:gemline:result\",\n"), 1)
	return bytes.ReplaceAll(b, []byte("\n"), []byte("\n    "))
}
