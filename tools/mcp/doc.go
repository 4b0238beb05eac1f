// Package mcp has the tools, prompts and resources of servers of the Model Context
// Protocol.
//
// A [Set] holds the servers of a project. It connects to each in the background, takes
// over what they have and follows its changes, and begins again with those that end.
// [Set.Tools] is a Toolset: what a server offers is called, judged and asked about like
// any other tool.
//
// # Nobody waits
//
// A server that is slow, dead or silent keeps nobody from working. What is to be told of
// it is a line; what is asked of it ends with its time.
//
// # What a server says is data
//
// Names, descriptions, schemas and results are made fit to be declared and shown, and have
// bounds. What a server says of a tool of its own, such as that it changes nothing, lets
// calls run side by side and never unasked. What it wants of the user is asked in its
// name, while a call runs.
//
// # Agreements are about content
//
// What was agreed to of a tool is bound to its description and schema. If they change,
// that is said, and calls are asked about again ([Seen]).
//
// # Nothing stays
//
// Programs are started by tools/launch and end with what they have started.
package mcp
