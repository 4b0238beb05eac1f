// Package schema holds a JSON value to a JSON Schema, and says in words that a
// model can act on what does not fit.
//
// # Everything ends
//
// Neither who writes the schema nor who writes the value can make it take long.
// What is too large is refused when it is read. Each pair of a schema and a
// value is judged once, so references that multiply cost no more than what they
// lead to. After a number of steps, which no clock counts, a judge gives up.
//
// # Everything is told
//
// All that is wrong is told at once: the place as a JSON pointer, and what was
// wanted there.
//
// # Nothing is loaded
//
// A schema is the text that the user gave. References into other documents are
// refused when it is read.
//
// # Why no library
//
// santhosh-tekuri/jsonschema compiles the schemas of schemas in its init: 2.7 to
// 5.4 ms of each start, where all of `gemline --version` takes 11. The others cost
// nothing at the start, but take the time of all paths that references make:
// kaptinlin/jsonschema 2.7 s for 20 definitions that refer to the next one twice,
// and it adds 2 MB to the program. To bound that means to walk the same pairs as
// a judge does, which is the larger part of one. google/jsonschema-go tells the
// first mistake only, and not where in the value it is. In the tests two of them
// say what fits, too, of schemas and values that are made by chance.
package schema
