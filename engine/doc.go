// Package engine holds a conversation with a model: it sends what the user
// said, carries out the calls the model asks for, and goes on until the model
// asks for nothing more. A first caller makes an Engine with [New] and ranges over
// [Engine.Run].
//
// The engine knows no terminal, no settings file and no particular tool. What
// it needs from the world it declares here as small interfaces and is given in
// a [Config]: a [Generator] to talk to, a [Toolset] to run, a [Policy] that
// judges calls, an [Approver] that decides the calls that the policy leaves open, and a
// [Journal] that stores the conversation.
//
// # One goroutine
//
// [Engine.Run] works on the goroutine that ranges over it. Calls may run side
// by side, but their events and questions are carried to that goroutine
// first, so a consumer prints and prompts without a lock.
//
// # History
//
// However a Run ends (done, failed, cancelled, or left by break), the history
// is a conversation that the API accepts: every function call has its answer,
// in the order of the calls. A question that the model never began to answer
// because the request failed is taken back; a cancelled one stays.
//
// # Recorded first
//
// Everything reported has been recorded: the end of a call, each message, and the changes that
// [Engine.Rewrite] makes to the conversation.
//
// # Size
//
// Before each request its size is known: what the server has counted, and a guess of
// the messages since. A [Context] may then put a shorter conversation in its place.
// Otherwise earlier content is sent again in the same bytes.
//
// # Calls
//
// Neighbouring calls of read-only tools that keep no notes run side by side, [MaxParallel] at
// most. Every other call runs alone, and is prepared only when those before it
// are over. No tool runs that the policy has not judged.
//
// # Agents
//
// A call may hold a conversation of its own, by an Engine of its own. It asks by
// the [Host] of the call and tells its events as [NestedEvent], so the one user sees
// and answers for all, on the one goroutine.
package engine
