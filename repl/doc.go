// Package repl is the terminal: it reads lines of the user, prints the events of a conversation
// and asks the engine's questions. A first caller fills a [REPL] and calls [REPL.Loop].
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
// it, and brings what it has to show or to ask to that goroutine.
//
// # Questions
//
// Nothing is allowed by an empty answer, by the end of the input, by what was
// typed before the question, or by an answer that was not understood.
package repl
