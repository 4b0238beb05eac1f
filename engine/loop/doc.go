// Package loop notices when a conversation does not get anywhere: when it goes in circles,
// and when it stops halfway. A first caller makes a Guard with [New] and wraps each Run with
// [Guard.Run].
//
// # A call repeats another only if its result was the same
//
// A [Guard] watches what a Run yields. Calls are a loop when the last ones are one to
// five different ones, five times in a row, with the same arguments and the same
// results each time: whoever polls, or builds what fails differently each time, gets
// somewhere. Twenty calls in a row that are alike are a loop, whatever came back.
//
// A text is a loop when the same fifty characters come ten times, close to each other,
// and the text between them repeats, too. Equal lines and rows of numbers may have been
// asked for: these are a loop after 20,000 characters. Code is not looked at, and a list, a
// table, a heading or a quote begins anew.
//
// After thirty requests for one prompt a model is asked now and then whether the turn gets
// anywhere; another one has to be of the same opinion. One that does not answer, twice in a
// row, is not asked again.
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
// # The other way round
//
// [Continue] goes on where a model has stopped and says that it has not finished.
//
// # Constant memory
//
// Of a conversation the package keeps the digests of its last calls and the last 5,000
// characters of an answer.
package loop
