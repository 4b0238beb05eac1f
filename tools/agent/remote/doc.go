// Package remote talks to agents on other servers, by the A2A protocol over JSON-RPC or
// REST: what an agent is sent, and what of its answers is kept. A first caller makes a [Client]
// with [New] and calls [Client.Ask].
//
// # Nothing before it is needed
//
// A [Client] connects to nobody before the first question. Then it reads the agent's card,
// once, for the agent's address and protocol.
//
// # Addresses are the user's to name
//
// Requests go to the public web, and elsewhere only where the user names the host and its
// port. An address from a card or a redirect does not count as named, and credentials go
// only to servers that the definition names.
//
// # The other side may be anything
//
// Bytes and time of a call and the size of its answer are limited. A malformed message
// fails the call. Cancelling a call cancels it at the server, too.
//
// # Types of our own, and no connection of a library
//
// a2aclient, the client of the protocol's library for Go, has JSON-RPC in version 0.3 alone,
// which is about 40 lines here. Version 2 of the library has REST and version 1, too, but the
// packages for 0.3 bring gRPC and two sets of types along, which costs each start of the program
// some milliseconds. Both drop the body of an error's status, and fail a message for a part that
// they do not know; their types do, too. This package reads the forms that versions 0.3 and
// 1 have in JSON, by one type. In the tests, servers that are built on libraries are the other
// side.
package remote
