// Package rpc carries the messages of the Model Context Protocol, which are those of
// JSON-RPC 2.0, between two programs: over lines, streamable HTTP, and the older HTTP
// with server-sent events.
//
// A [Conn] asks and is asked over a [Stream], at a client as at a server. A first caller opens
// a Stream with [Lines], [HTTP] or [SSE], gives it to [New] with a [Handler], and asks with
// [Conn.Call]; a server of HTTP gets a Stream for each client from a [Host].
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
// handler may ask the other side something. The reader waits only for the requests that the
// Sync of a [Handler] names.
//
// # What a library does
//
// Names, numbers and texts of the protocol are mark3labs/mcp-go's, here and in tools/mcp,
// and its transports make requests over HTTP, resume responses, listen, and keep the
// session. [HTTP] and [SSE] are the http.RoundTripper below such a transport: they read and
// bound what a server says, hand it to the Conn, and tell the transport only which request
// is answered. So a garbled answer ends its call and a second answer blocks nothing
// (TestEvents); the user may think about a question for longer than the transport's 30
// seconds; and a server asks over the older HTTP, too, whose requests the library drops.
//
// The library's client over pipes would save no line, since ACP and the server of MCP need
// [Lines] and Conn. With it, the call of a garbled answer waits until its time limit. A call
// to a server that does not read its input never ends: it does not heed its context while it
// writes, and six seconds after a limit of one it still waited. A line has no limit.
//
// The library's server is not used. Of 1,000 notifications that a call sent at once, it
// dropped 660 over lines and 857 over HTTP, and wrote 33 after the answer. Two calls in one
// session over HTTP got half of each other's progress messages. Its server over lines has one
// session for the process, and nothing limits the sessions over HTTP.
//
// Two types are our own since the library's lose data: the tool, whose schema the library
// rewrites, and the result with its contents, which fails for one content of unknown type. In
// the tests, programs built on libraries are the other side.
package rpc
