// Package schema holds a JSON value to a JSON Schema, and says in words that a
// model can act on what does not fit.
//
// # Everything ends
//
// santhosh-tekuri/jsonschema decides what fits. It would follow all paths that
// references make, so a meter in each schema counts what it does, and a check is
// given up after a number of steps, which no clock counts. What is too large or too
// deep, or leads to itself, is refused before. TestBombs and TestTooLarge hold that.
//
// # Everything is told
//
// All that is wrong is told at once: the place as a JSON pointer, and what was
// wanted there.
//
// # Nothing is loaded
//
// A schema is the text that the user gave. References into other documents, which the
// library would read from files, are refused. [Parse] compiles; nothing is compiled
// before it is called.
package schema
