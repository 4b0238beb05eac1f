// Package repl is the terminal: it reads lines of the user, prints the events of a conversation
// and asks the engine's questions. A first caller fills a [REPL] and calls [REPL.Loop].
//
// # Output is only appended
//
// The session appends its output and never changes it. Every message begins on a new line, with a
// label of package output; every turn ends with a line that begins with "done:".
//
// # One goroutine
//
// The goroutine that calls [REPL.Loop] owns the terminal. A turn runs on another goroutine, and
// sends its output and its questions to the first.
//
// # Only a clear answer allows a call
//
// An empty answer, the end of the input, text typed before the question, or an invalid answer
// allows nothing.
package repl
