// Package remote talks to agents on other servers, by the A2A protocol over JSON-RPC or
// REST: what an agent is sent, and what of its answers is kept.
//
// # Nothing before it is needed
//
// A [Client] connects to nobody before it is asked something. Then it reads the agent's
// card, once, which says where the agent is and what it speaks.
//
// # Addresses are the user's to name
//
// Requests go to the public web, and elsewhere only where the user names the host and its
// port. What a card or a redirect names is no such place, and who is shown credentials is
// who the definition names.
//
// # The other side may be anything
//
// Bytes and time of a call have limits, and so has what is kept of its answer. What can't
// be understood fails the call. A call that is cancelled is cancelled at the server.
//
// # Types of our own, and no connection of a library
//
// The protocol's library for Go has neither REST nor a limit, ends at a line of 64 KB, drops
// what a server says of an error, and fails a message for one part that it does not know.
// It brings gRPC, and its types are registered with encoding/gob at every start. What is
// read here are the forms that versions 0.3 and 1 have in JSON. In the tests, servers that
// are built on libraries are the other side.
package remote
