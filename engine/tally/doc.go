// Package tally counts what a session costs and does: requests, tokens, calls,
// lines changed.
//
// # Counted from events
//
// A [Tally] counts only the events that it observes, and returns only numbers. No other code
// counts.
//
// A conversation inside a call is counted with the outer conversation.
//
// # The wire form
//
// As JSON a Tally is the "stats" object that scripts know from the Gemini
// CLI, with the names and the order of its fields. It has models and tools in
// the order in which they were first used.
package tally
