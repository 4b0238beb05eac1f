// Package rpc carries the messages of the Model Context Protocol, which are those of
// JSON-RPC 2.0, between two programs: over lines, streamable HTTP, and the older HTTP
// with server-sent events.
//
// A [Conn] sends and answers requests over a [Stream], in a client and in a server. A first
// caller opens a Stream with [Lines], [HTTP] or [SSE], gives it to [New] with a [Handler],
// and asks with [Conn.Call]; a server of HTTP gets a Stream for each client from a [Host].
//
// # The other side is not trusted
//
// Its messages are bounded: a message of more than [MaxMessage] bytes is skipped, and
// messages other than answers are rate-limited. A malformed message fails the calls that it
// may answer, so that no call waits for a lost answer. A server's log lines among its
// messages are skipped, even if they begin with a bracket.
//
// # The reader never blocks
//
// One goroutine reads. It passes answers to the waiting calls, starts a limited number of
// goroutines for requests, and passes notifications to a function that returns at once. So a
// handler may send requests, too. The reader waits only for requests selected by the Sync of
// a [Handler].
//
// # Use of the library
//
// Constants of the protocol come from mark3labs/mcp-go, here and in tools/mcp. Its
// transports make requests over HTTP, resume responses, listen, and keep the session. [HTTP]
// and [SSE] are the http.RoundTripper below such a transport: they read and limit a server's
// messages, pass them to the Conn, and report to the transport only that a request is
// answered. So a garbled answer ends its call, and a second answer blocks nothing
// (TestEvents). The user may think about a question for longer than the transport's 30
// seconds. A server can also send requests over the older HTTP, where the library drops
// them.
//
// The library's client over pipes would save no line, since ACP and the server of MCP need
// [Lines] and Conn. With it, a call with a garbled answer waits until its timeout. A call to
// a server that does not read its input never ends: it ignores its context while it writes,
// and still waited six seconds after a timeout of one second. The length of a line has no
// limit.
//
// The library's server is not used. Of 1,000 notifications that a call sent at once, it
// dropped 660 over lines and 857 over HTTP, and wrote 33 after the answer. Two calls in one
// session over HTTP got half of each other's progress messages. Its server over lines has one
// session for the process, and nothing limits the sessions over HTTP.
//
// Two types are our own, as the library's types lose data: the tool, whose schema the
// library rewrites, and the result, which fails for one content of unknown type. The tests
// use programs that are built on libraries.
package rpc
