// Package a2a has programs work with gemline by the Agent2Agent protocol, version 0.3, of
// which it is a server: they give it tasks, follow them and answer what is asked.
//
// # A task is a conversation
//
// A task has a session of its own, which takes messages one after the other. Between
// messages it waits in the state input-required, as it does while a call is asked about. A
// new task with the context of an ended task resumes the session.
//
// # What is reported has been recorded
//
// A task is a file. Each state that it gets is in the file before anybody is told. So one
// that waited for an answer when gemline was killed still waits, and then the call is
// proposed once more; one that was worked on has failed, and says why.
//
// # A client that is gone ends nothing
//
// What happens in a task goes to whoever reads along. Readers that are too slow hold a turn up
// for a while in all, and are cut off then, or when it is cancelled; they can come back by
// tasks/resubscribe.
//
// # Types of a library, and no server
//
// Names and texts of the protocol are a2aproject/a2a-go's. Its server is not used: it keeps
// tasks in memory, calls one a task that is not there after a restart, takes requests of any
// size, and calls an executor anew for each message, which has no place for a call that is
// being asked about. Its client reads lines of at most 64 KB, so no event here is longer. In
// the tests, programs that are built on libraries are the other side.
package a2a
