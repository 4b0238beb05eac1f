// Package a2a has programs work with gemline by the Agent2Agent protocol, version 0.3, of
// which it is a server: they give it tasks, follow them and answer questions. A first caller
// makes a [Server] with [New] and serves its HTTP.
//
// # A task is a conversation
//
// A task has a session of its own, which takes messages one after the other. Between
// messages it waits in the state input-required, as it does while a call is asked about. A
// new task with the context of an ended task resumes the session.
//
// # Reported events have been recorded
//
// A task is a file. Each state that it gets is in the file before anybody is told. So a task that
// waited for an answer when gemline was killed still waits, and then the call is proposed once
// more. A task that was in work has failed, and says why.
//
// # A client that is gone ends nothing
//
// What happens in a task goes to whoever reads along. A reader that takes nothing holds a turn
// up for a while, and is cut off then. A turn that is cancelled does not wait for readers. A
// reader can come back by tasks/resubscribe.
//
// # The library's types, and a wire and tasks of our own
//
// The types are those of a2aproject/a2a-go. Its a2asrv saves fewer lines for JSON-RPC than
// a layer costs that has it say errors in words, keep ids, refuse bytes behind a request, bound
// requests and slow readers, and leave numbers off events that resume nothing.
//
// Its handler of tasks writes the whole task and a message of its history for each piece of a
// text. It fails a task whose call gets an answer that is not offered. It takes no words while
// a task is worked on. It resubscribes nobody to a task that rests, or that was interrupted by
// a restart. Whoever cancels waits for readers that stall.
//
// Its client reads lines of at most 64 KB, so no event here is longer. In the tests,
// programs that are built on libraries are the other side.
package a2a
