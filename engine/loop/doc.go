// Package loop notices when a conversation goes in circles, and ends it.
//
// # A call repeats another only if its result was the same
//
// A [Guard] watches what a Run yields. Calls are a loop when the last ones are one to
// five different ones, five times in a row, with the same arguments and the same
// results each time: whoever polls, or builds what fails differently each time, gets
// somewhere. Twenty calls in a row that are alike are a loop, whatever came back.
//
// A text is a loop when the same fifty characters come ten times, close to each other,
// and what stands between them repeats, too. Code is not looked at, and a list, a table,
// a heading or a quote begins anew.
//
// # It stops before the next round
//
// What happened can't be taken back, so the call that would begin the next round is not
// made: the Run is left before that, and the engine closes its history as for every
// consumer that leaves.
//
// # Advice first
//
// The first time, the model is told. The second time for the same prompt, the user is
// asked; where nobody can be, the Run ends with an [*Error].
//
// # Constant memory
//
// What is kept of a conversation is the digests of its last calls and the last 5,000
// characters of an answer.
package loop
