// Package tally counts what a session costs and does: requests, tokens, calls,
// lines changed.
//
// # Derived
//
// A [Tally] knows nothing but the events that it was shown, and is asked for
// nothing but numbers. Nobody else keeps counts.
//
// Conversations inside calls are counted with the one that they are inside of.
//
// # The wire form
//
// As JSON a Tally is the "stats" object that scripts know from the Gemini
// CLI, with the names and the order of its fields. It has models and tools in
// the order in which they were first used.
package tally
