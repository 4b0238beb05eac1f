// Package schema holds a JSON value to a JSON Schema, and says in words that a
// model can act on what does not fit.
//
// A library reads the schema. What fits is decided here, about each pair of a
// schema and a value once, and all that is wrong is told at once and with the
// place where it is wrong. In the tests two libraries say what fits, too, of
// schemas and values that are made by chance.
//
// # Everything ends
//
// Whoever writes the schema or the value can't make it take long: what is too
// large is refused when it is read, and deciding gives up, with a problem that
// says so, after a number of steps that no clock counts.
//
// # Nothing is loaded
//
// A schema is the text that the user gave. References into other documents are
// refused when it is read.
package schema
