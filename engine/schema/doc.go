// Package schema checks a JSON value against a JSON Schema, and describes each fault in words
// that a model can act on. A first caller reads a [Schema] with [Parse] or [Load] and calls
// [Schema.Check].
//
// # Every check ends
//
// santhosh-tekuri/jsonschema decides what fits. Since it follows all paths of references, a meter
// in each schema counts its steps. A check ends after a number of steps, independent of time.
// [Parse] refuses a schema that is too large, too deep or circular. TestBombs and TestTooLarge
// show that.
//
// # All faults are reported
//
// Each fault has its place, a JSON pointer, and the expected value.
//
// # No document is loaded
//
// A schema is the given text alone. References into other documents, which the library would read
// from files, are refused. Only [Parse] compiles.
package schema
