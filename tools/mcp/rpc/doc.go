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
// an answer that has come.
//
// # Who reads never waits
//
// One goroutine reads. It hands answers to who waits for them, starts a goroutine for each
// request, few at once, and tells notifications to a function that returns at once. So a
// handler may ask the other side something.
//
// # Why no library
//
// mark3labs/mcp-go, with the metaschemas that its server compiles, costs each start of the
// program 10 ms more, whether it has MCP servers or not, and its types alone 0.8 ms, where
// 8 are all. It also rewrites schemas, fails a call for one kind of content that it does
// not know, waits for ever for an answer that is no JSON, and keeps a line however long it
// is. modelcontextprotocol/go-sdk costs 0.8 ms. In the tests servers that are built on both
// are the other side.
package rpc
