// Package remote talks to agents on other servers, by the A2A protocol over JSON-RPC or
// REST. A first caller makes a [Client] with [New] and calls [Client.Ask].
//
// # Lazy connections
//
// A [Client] makes no connection before the first question. Then it reads the agent's card,
// once, for the agent's address and protocol.
//
// # Only the user names private addresses
//
// Requests go to the public web, and elsewhere only where the user names the host and its
// port. An address from a card or a redirect does not count as named, and credentials go
// only to servers that the definition names.
//
// # The server is not trusted
//
// Bytes and time of a call and the size of its answer are limited. A malformed message
// fails the call. Cancelling a call cancels it at the server, too.
//
// # Why no client from a library
//
// a2aclient, the client of the protocol's library for Go, has JSON-RPC in version 0.3 alone,
// which is about 40 lines here. Version 2 of the library has REST and version 1, too, but
// the packages for 0.3 bring gRPC and two sets of types along, which costs each start of the
// program some milliseconds. Both drop the body of an error response, and reject a message
// with an unknown part; so do their types. This package reads the JSON of both versions into
// the same types. The tests use servers that are built on libraries.
package remote
