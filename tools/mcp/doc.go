// Package mcp has the tools, prompts and resources of servers of the Model Context
// Protocol.
//
// A [Set] holds the servers of a project. It connects to each in the background, takes
// over their tools, prompts and resources, follows changes, and restarts servers that end.
// [Set.Tools] is a Toolset: a server's tool is called, judged and asked about like any other
// tool. A first caller makes a Set with [New], calls [Set.Start], and closes it with [Set.Close].
//
// # No waiting for servers
//
// A slow, dead or silent server does not block the user. Each of its problems is reported in
// one line; requests to it have a timeout.
//
// # Servers are not trusted
//
// Names, descriptions, schemas and results are sanitised and bounded before the model or the
// user sees them. A server's annotation of its tool, such as read-only, lets calls run in
// parallel but never without a question. While a call runs, the server may ask the user
// questions, in its own name.
//
// # Approvals are bound to content
//
// The approval of a tool is bound to its description and schema. If they change, the user is
// notified, and calls need approval again ([ToolPins]).
//
// # No processes remain
//
// tools/launch starts the servers' programs, and ends them with all their child processes.
package mcp
