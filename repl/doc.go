// Package repl is what stands between the user and the engine: the session at
// a terminal ([REPL]), single runs whose output a program may read ([Once]),
// and conversations with a program ([Talk]).
//
// # Appended, never taken back
//
// What the session writes is added at the end and stays. Every message begins
// on a line of its own with one of the labels of package output; every turn
// ends with a line that begins with "done:".
//
// # One goroutine
//
// The goroutine that calls [REPL.Loop] owns the terminal. A turn runs beside
// it, and brings home what it has to show or to ask.
//
// # Questions
//
// Nothing is allowed by an empty answer, by the end of the input, by what was
// typed before the question, or by an answer that was not understood.
package repl
