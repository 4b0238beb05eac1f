// Package oauth gives requests to MCP servers the token that they want, and gets that token: by a
// log-in of the user's, with a refresh token, or for a Google account. A first caller makes
// requests with [New], and logs in with a [Client].
//
// # A token goes where it belongs
//
// It is sent to the scheme, host and port that the settings name for the server and that it was
// made for, and to none that a redirect leads to. It is never sent unencrypted to another machine.
//
// # Servers don't choose whom we talk to
//
// A server says where to log in, so its answers are checked: addresses are https, and the
// connection is made to the public web alone. What the user's settings name is exempt, and so
// is this machine if the server is on it. What breaks a rule ends the log-in; no other way is tried.
//
// # One refresh at a time
//
// A refresh token may be good for one use. It is used under a lock that all gemlines share, and
// whoever waited for the lock takes what the other has got.
//
// # Secrets
//
// Tokens, codes and client secrets are made known to the redactor before they are used, and are
// in no error. What a server says about an error is one short line.
//
// # What the library does
//
// golang.org/x/oauth2 makes the address to log in at, with PKCE, and gets and renews tokens. An
// exchange is the library's transport, and mends what the library does not do:
//
//   - It sends no resource and no audience with a refresh token (TestRefreshStays).
//   - It takes JSON that is called a text for a form (TestAnswersWithTokens).
//   - It adds its parameters to those of the same name that an address has, and leaves the address as
//     the server wrote it: with spaces, and letters that turn a line (TestWhatIsSent).
//   - It puts whole answers into errors; only the error's name and description are taken.
//
// The handler of mark3labs/mcp-go does the same and registers the program, which is one request
// here. It asks the server anew where to send a refresh token, so a server could lead the token
// elsewhere; it sends an empty scope, and adds a second question mark to an address that has
// parameters. What catches that took 45 lines more than this.
//
// Finding out where to log in is ours, because the handler breaks rules there, too: after a
// violation it goes on at the next place, and in the end at addresses that it makes up (/authorize,
// /token); it compares no issuer if a server is its own log-in server; it reads neither the scopes
// of the server nor whether answers name their issuer; it takes no issuer and no endpoint from
// settings; and it misses documents at the root of a server. It would replace about 30 lines of 180,
// those that make addresses and read documents, and each rule would have to be put back below it.
//
// Challenges are read here, too: the library reads only where the metadata is, and the reader of
// the MCP SDK (oauthex) gives up all challenges if one can't be read.
package oauth
