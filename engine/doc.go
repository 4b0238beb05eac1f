// Package engine holds a conversation with a model: it sends what the user said, carries out the
// calls that the model requests, and continues until the model requests no more. A first caller
// makes an Engine with [New] and ranges over [Engine.Run].
//
// The engine knows no terminal, no settings file and no particular tool. The engine declares its
// dependencies as small interfaces, and gets them in a [Config]: a [Generator] to talk to, a
// [Toolset] to run, a [Policy] that judges calls, an [Approver] that decides the calls that the
// policy leaves open, and a [Journal] that stores the conversation.
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
// because the request failed is taken back; a cancelled question stays.
//
// # Recorded first
//
// Everything reported has been recorded: the end of a call, each message, and the changes that
// [Engine.Rewrite] makes to the conversation.
//
// # Size
//
// Before each request its size is estimated: the server's last count, plus a guess for the
// messages since. A [Context] may then replace the conversation by a shorter one. Otherwise
// earlier content is sent again byte for byte.
//
// # Calls
//
// Neighbouring calls of read-only tools that keep no notes run side by side, [MaxParallel] at
// most. Every other call runs alone, and is prepared only when the calls before it are over. A tool
// runs only after the policy has judged the call.
//
// # Agents
//
// A call may run an agent: a conversation with an Engine of its own. The agent puts its questions
// through the [Host] of the call and emits its events as [NestedEvent], so one user sees and
// answers all agents, on one goroutine.
package engine
