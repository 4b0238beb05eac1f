// Package route chooses the model that answers.
//
// With automatic choice (auto), a small model rates the difficulty of a prompt, and a larger or a
// smaller model answers. If the model of a prompt can't answer, another model of its chain does.
//
// # One decision a prompt
//
// [Router.Run] decides before the first request of a prompt, and the decision holds for all
// rounds of calls, and for the work that hooks or checks demand after the answer. Only a
// change of the approval mode is a reason to decide again.
//
// # A failed strategy never fails the prompt
//
// If the classifier fails or does not answer in time, strategies without requests decide.
//
// # Every change is reported
//
// A change of the model is an [engine.Retry] with the new model's name, before its answer. The
// chunks of the failed attempt don't count.
package route
