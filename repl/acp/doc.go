// Package acp has editors work with gemline by the Agent Client Protocol, of which it is an
// agent: they begin sessions, and show what happens and is asked in them. A first caller calls
// [Serve] with a Config and the Stream of an editor.
//
// # A session is a conversation
//
// Each has its own directory, trust and rules. Several are held at once; in each of them
// one prompt is worked on after the other. What happens in one is told, and what is asked
// is asked, on the goroutine that ranges over its Run.
//
// # The editor speaks for its user
//
// What stands in a prompt means what it means at a terminal: commands and references. What
// an editor answers counts as far as it was offered.
//
// # Nothing is held for who does not read
//
// An event is written before the next event happens. An editor that does not read
// holds up its own requests, and nothing else grows.
//
// # Nothing outlives the editor
//
// When it is gone, its requests are cancelled, and its sessions end.
//
// # Types of a library, and no connection
//
// The types are coder/acp-go-sdk's, and the connection is tools/mcp/rpc's: the library's
// ends with a line of 10 MB, which an image has, and answers prompts out of order. Of its
// types the variants are used, since its unions are encoded twice, with numbers in rawInput
// rounded.
package acp
