// Package limit limits what a conversation may spend: tokens, money, calls of tools, time. A
// first caller makes a [Budget] with [New], and wraps the Generator and the Run with it.
//
// # Generator and Run
//
// A Budget wraps both the Generator and the Run; the engine does not know it. [Budget.Generator]
// belongs below the Generator that repeats requests. It counts each attempt, refuses an attempt
// when the Budget is spent, and bounds the answer by the rest. [Budget.Watch] counts the calls
// that the model requests, and leaves the Run when they are too many, so that the engine closes
// the history as for every consumer that leaves.
//
// # Concurrent requests
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
