// Package rpc carries the messages of the Model Context Protocol, which are those of
// JSON-RPC 2.0, between two programs: over lines, streamable HTTP, and the older HTTP
// with server-sent events.
//
// A [Conn] asks and is asked over a [Stream], whichever of the two it is.
//
// # The other side may be anything
//
// What it sends is bounded: a message of more than [MaxMessage] bytes is passed over
// without being kept, and messages that answer nothing are taken at a pace. What can't be
// understood fails the calls that it may have been the answer to, so that nobody waits for
// an answer that has come. A server's log lines among its messages are passed over, whatever
// bracket they begin with.
//
// # Who reads never waits
//
// One goroutine reads. It hands answers to who waits for them, starts a goroutine for each
// request, few at once, and tells notifications to a function that returns at once. So a
// handler may ask the other side something. Only what a [Handler] answers soon is waited for.
//
// # Types of a library, and no connection
//
// Names, numbers and texts of the protocol are mark3labs/mcp-go's, here and in tools/mcp.
// Its client and its server are not used: their packages compile metaschemas when the
// program starts, which costs each start 10 ms where 8 are all, whether it has MCP servers
// or not. They also wait for ever for an answer that is no JSON, and keep a line however
// long it is. Of the types those are ours that would lose something: of a tool, whose schema
// is rewritten, and of a result, which fails for one content of a type that is not known. In
// the tests, programs that are built on libraries are the other side.
package rpc
