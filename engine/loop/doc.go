// Package loop detects a conversation that makes no progress: a loop, or a turn that ends before
// the work is done. A first caller makes a Guard with [New] and wraps each Run with [Guard.Run].
//
// # A call repeats another only if its result was the same
//
// A [Guard] watches the events of a Run. Calls are a loop if a round of one to five calls occurs
// five times in a row, with the same arguments and results. Polling, or a build that fails
// differently each time, is progress. Twenty equal calls in a row are a loop, whatever their
// results.
//
// A text is a loop if the same fifty characters occur ten times, close to each other, and the
// text between them repeats, too. Since a user may ask for equal lines or rows of numbers, these
// are a loop only after 20,000 characters. Code is ignored, and a list, a table, a heading or a
// quote resets the detection.
//
// After thirty requests for one prompt, a model judges now and then whether the turn makes
// progress. A second model must agree that it does not. After two judgements in a row without an
// answer, no more are requested.
//
// # The Run ends before the next round
//
// Effects of calls can't be undone, so the call that would begin the next round does not run: the
// Guard leaves the Run before, and the engine closes its history as for every consumer that
// leaves.
//
// # Advice first
//
// At the first loop of a prompt, the model gets advice. At the second, the user is asked; if no
// user is present, the Run ends with an [*Error].
//
// # Continuation of unfinished turns
//
// [Continue] has a model continue if its last message says that it has not finished.
//
// # Constant memory
//
// The package stores the digests of a conversation's last calls and the last 5,000 characters of
// an answer.
package loop
