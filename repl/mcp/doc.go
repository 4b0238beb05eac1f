// Package mcp has programs work with gemline by the Model Context Protocol, of which it is
// a server: they give it tasks, and use its tools.
//
// # A call is a conversation
//
// Each call has a conversation of its own, or one that its client has a name for. What is
// asked in it is asked of the client, which asks its user; what happens is told as
// progress. A client that can't ask has what a run has that nobody watches.
//
// # Nothing outlives the client
//
// When a client is gone, its calls are cancelled and its conversations end.
package mcp
