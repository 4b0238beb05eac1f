// Package mcp is a server for the Model Context Protocol: programs give it tasks, and use its
// tools. A first caller calls [Serve] with a Config and the Stream of a client.
//
// # A call is a conversation
//
// Each call has a conversation of its own, or a conversation that its client names.
// Questions go to the client, which asks its user; events are reported as progress. If the
// client can't ask, the call is treated like an unattended run.
//
// # Calls end with the client
//
// When a client is gone, its calls are cancelled and its conversations end.
package mcp
