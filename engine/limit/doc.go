// Package limit limits what a conversation may spend: tokens, money, calls of tools, time.
//
// # Two ends
//
// A [Budget] stands at both ends of a conversation, and the engine between
// them knows nothing of it. At the one end it wraps the Generator, below a Generator that
// repeats requests: each attempt is counted, is refused when nothing is left, and its answer
// is bounded by the rest. At the other it watches the events of a Run: it counts the calls
// that the model wants, and leaves when they are too many, so that the engine closes the
// history as it does for every consumer that leaves.
//
// # Side by side
//
// Concurrent requests share the rest: each reserves its estimated need, and waits for the
// others if too little is left. Together they spend as much as the same requests in sequence.
//
// # A limit that stops something is an error
//
// An answer that is complete when a limit is crossed is a success; only later requests are
// refused. The text of a stopped answer was yielded and stays, and the conversation can
// continue from the history.
//
// # Prices
//
// Money is counted only for models that [Prices] names. Prices are dated, uncertain ones are
// left out, and the user's own prices take precedence.
package limit
