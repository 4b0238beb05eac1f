// Package schema checks a JSON value against a JSON Schema, and describes each fault in words
// that a model can act on. A first caller reads a [Schema] with [Parse] or [Load] and calls
// [Schema.Check].
//
// # Everything ends
//
// santhosh-tekuri/jsonschema decides what fits. It would follow all paths that
// references make, so a meter in each schema counts its steps, and a check is
// given up after a number of steps, which no clock counts. A schema that is too large or too
// deep, or leads to itself, is refused before. TestBombs and TestTooLarge hold that.
//
// # Everything is told
//
// All faults are reported at once: each with its place, a JSON pointer, and the value that was
// expected there.
//
// # Nothing is loaded
//
// A schema is the text that the user gave. References into other documents, which the
// library would read from files, are refused. [Parse] compiles; nothing is compiled
// before it is called.
package schema
