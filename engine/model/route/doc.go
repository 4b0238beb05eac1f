// Package route decides which model answers.
//
// Where the user leaves the choice open (auto), a small model says how hard a prompt is,
// and a larger or a smaller model answers. Where the model of a prompt can't answer,
// another one of its chain does.
//
// # One decision a prompt
//
// [Router.Run] decides before the first request of a prompt, and what it decides holds for
// all the rounds of calls in it, and for what hooks or checks have the model do about its
// answer. Only a change of the approval mode is a reason to decide again.
//
// # Never in the way
//
// What can't be decided in time is decided by the strategies that ask nobody. No failure
// of a strategy is one of the prompt.
//
// # Every change is told
//
// That another model takes over is an [engine.Retry] with its name, before anything of its
// answer. Of the failed attempt nothing counts.
package route
