// Package acp is an agent for the Agent Client Protocol: editors begin sessions, and show their
// events and questions. A first caller calls [Serve] with a Config and the Stream of an editor.
//
// # A session is a conversation
//
// Each session has its own directory, trust and rules. Several sessions run at once; each works on
// one prompt at a time. The goroutine that ranges over the session's Run sends its events and
// questions.
//
// # The editor speaks for its user
//
// A prompt has the same commands and references as at a terminal. An answer of an editor counts
// only if it was offered.
//
// # Events are not buffered
//
// An event is written before the next event happens. An editor that does not read delays its own
// requests, and no buffer grows.
//
// # Sessions end with the editor
//
// When the editor disconnects, its requests are cancelled, and its sessions end.
//
// # A library's types, our own connection
//
// The types are coder/acp-go-sdk's, and the connection is tools/mcp/rpc's: the library's connection
// breaks at a line of 10 MB, which an image may have, and answers prompts out of order. The
// variants of its types are used instead of its unions, since a union is encoded twice, which
// rounds numbers in rawInput.
package acp
