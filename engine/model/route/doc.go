// Package route decides which model answers.
//
// Where the user leaves the choice open (auto), a small model says how hard a prompt is,
// and a larger or a smaller model answers. Where the model of a prompt can't answer,
// another one of its chain does.
//
// # One decision a prompt
//
// [Router.Run] decides before the first request of a prompt, and the decision holds for all
// rounds of calls, and for the work that hooks or checks demand after the answer. Only a
// change of the approval mode is a reason to decide again.
//
// # Never in the way
//
// If no decision comes in time, strategies without a request of their own decide. The failure
// of a strategy never fails the prompt.
//
// # Every change is told
//
// A change of the model is an [engine.Retry] with the new model's name, before its answer.
// Nothing in the failed attempt counts.
package route
