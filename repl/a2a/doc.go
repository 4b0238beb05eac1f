// Package a2a is a server for the Agent2Agent protocol, version 0.3: programs give it tasks, follow
// the tasks and answer questions. A first caller makes a [Server] with [New] and serves its HTTP.
//
// # A task is a conversation
//
// A task has its own session, which works on one message at a time. Between messages, and while a
// call needs approval, it is in the state input-required. A new task with the context of an ended
// task resumes the session.
//
// # States are recorded before they are reported
//
// A task is a file. Each new state is in the file before a client sees it. So a task that waited
// for an answer when gemline was killed still waits, and proposes the call again. A task that was
// working has failed, with the reason.
//
// # A task does not depend on its client
//
// The events of a task go to all readers. A slow reader delays a turn for a while, and then is
// disconnected. A cancelled turn does not wait for readers. A reader can reconnect with
// tasks/resubscribe.
//
// # The library's types, our own protocol and tasks
//
// The types are those of a2aproject/a2a-go. Its a2asrv would save fewer lines than an adapter would
// cost. The adapter would have to give errors in words, keep ids, refuse bytes after a request,
// limit requests and slow readers, and omit event numbers that can't resume a stream.
//
// Its handler of tasks writes the whole task and a message of its history for each piece of a text.
// It fails a task if the answer to a question is invalid. It accepts no message while a task is
// working. It allows no resubscription to an idle task, or after a restart. A cancellation waits
// for stalled readers.
//
// Its client reads lines of at most 64 KB, so no event here is longer. In the tests, clients use
// the libraries.
package a2a
