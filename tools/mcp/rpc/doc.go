// Package rpc carries the messages of the Model Context Protocol, which are those of
// JSON-RPC 2.0, between two programs: over lines, streamable HTTP, and the older HTTP
// with server-sent events.
//
// A [Conn] asks and is asked over a [Stream], whichever of the two it is.
//
// # The other side may be anything
//
// Its messages are bounded: a message of more than [MaxMessage] bytes is skipped, and
// messages other than answers are rate-limited. A malformed message fails the calls that it
// may answer, so that nobody waits for an answer that has come. A server's log lines among
// its messages are passed over, whatever bracket they begin with.
//
// # Who reads never waits
//
// One goroutine reads. It hands answers to the waiting calls, starts a goroutine for each
// request, few at once, and passes notifications to a function that returns at once. So a
// handler may ask the other side something. The reader waits only for requests that a
// [Handler] answers soon.
//
// # Types of a library, and no connection
//
// Names, numbers and texts of the protocol are mark3labs/mcp-go's, here and in tools/mcp.
// Its client and its server are not used: their packages compile metaschemas when the
// program starts, which costs each start 10 ms where 8 are all, whether it has MCP servers
// or not. They also wait for ever for an answer that is no JSON, and keep a line however
// long it is. Two types are our own since the library's lose data: the tool, whose schema
// the library rewrites, and the result, which fails for one content of unknown type. In the
// tests, programs built on libraries are the other side.
package rpc
