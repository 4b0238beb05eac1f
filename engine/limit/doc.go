// Package limit holds a conversation to what the user is ready to spend on it:
// tokens, money, calls of tools, time.
//
// # Two ends
//
// A [Budget] stands at both ends of a conversation, and the engine between
// them knows nothing of it. At the one end it wraps the Generator, below
// whatever makes requests again: each attempt is counted, is refused when
// nothing is left, and its answer is bounded by what is left. At the other it
// watches what a Run yields: it counts the calls that the model wants, and
// leaves when they are too many, so that the engine closes the history as it
// does for every consumer that leaves.
//
// # Side by side
//
// Requests that are made at once share what is left: each keeps what it may
// take, and one that finds too little waits for the others. So many together
// spend what one after the other would.
//
// # A limit that stops something is an error
//
// An answer that is complete when a limit is crossed is a success; only what
// would come after it is refused. What was said before a limit stopped it was
// yielded and stays, and the history is one that can be gone on with.
//
// # Prices
//
// Money is counted only for models that [Prices] names. They are dated, what
// is not known for certain is left out, and what the user says counts instead.
package limit
