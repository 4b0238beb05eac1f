// Package mcp has the tools, prompts and resources of servers of the Model Context
// Protocol.
//
// A [Set] holds the servers of a project. It connects to each in the background, takes
// over their tools, prompts and resources, follows changes, and restarts servers that end.
// [Set.Tools] is a Toolset: a server's tool is called, judged and asked about like any other
// tool. A first caller makes a Set with [New], calls [Set.Start], and closes it with [Set.Close].
//
// # Nobody waits
//
// A server that is slow, dead or silent keeps nobody from working. Its problems are told in
// one line each; requests to it have a time limit.
//
// # What a server says is data
//
// Names, descriptions, schemas and results are made fit to be declared and shown, and have
// bounds. A server's annotation of its tool, such as read-only, lets calls run in parallel
// but never without a question. Questions of the server are put to the user in its name,
// while a call runs.
//
// # Agreements are about content
//
// An agreement to a tool is bound to its description and schema. If they change, the user
// is told, and asked again about calls ([ToolPins]).
//
// # Nothing stays
//
// Programs are started by tools/launch and end with all that they have started.
package mcp
