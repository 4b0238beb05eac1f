// Package schema holds a JSON value to a JSON Schema, and says in words that a
// model can act on what does not fit.
//
// The library decides what fits; this package never does. It asks the library
// about one keyword and one place at a time, so that all that is wrong is told
// at once and with the place where it is wrong.
//
// # Nothing is loaded
//
// A schema is the text that the user gave. References into other documents are
// refused when it is read.
package schema
