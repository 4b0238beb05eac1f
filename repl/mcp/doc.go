// Package mcp has programs work with gemline by the Model Context Protocol, of which it is
// a server: they give it tasks, and use its tools. A first caller calls [Serve] with a Config and
// the Stream of a client.
//
// # A call is a conversation
//
// Each call has a conversation of its own, or a conversation that its client names.
// Questions go to the client, which asks its user; events are reported as progress. If the
// client can't ask, the call is treated like an unattended run.
//
// # Nothing outlives the client
//
// When a client is gone, its calls are cancelled and its conversations end.
package mcp
