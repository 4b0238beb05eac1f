// Package oauth gives requests to MCP servers the token that they want, and gets that token:
// by a log-in of the user's, with a refresh token, or for a Google account.
//
// # A token goes where it belongs
//
// It is sent to the scheme, host and port that the settings name for the server and that it was
// made for, and to none that a redirect leads to. It is never sent unencrypted to another machine.
//
// # Servers don't choose whom we talk to
//
// A server says where to log in, so what it says is checked: addresses are https, and the
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
// mark3labs/mcp-go's handler registers the program, makes the address to log in at, and asks for
// tokens. An exchange stands below it, and catches what it does wrong: it sends an empty scope
// where there is none, and no audience; it adds a second question mark to an address that has one; it reads
// no form, no number that is written as a text and no answer with another expires_at, and takes
// one without a token; its errors hold the whole answer; and it sends a refresh token to where
// the server leads at that time (TestWhatIsSent, TestAnswersWithTokens, TestRefreshStays). So
// what the handler looks up is answered from the plan, and each request goes through the reach.
//
// Finding out where to log in is ours. The handler would make the addresses and read the documents,
// which are 30 lines of 180, and it can't hold the rules: after a violation it goes on at the
// next place, and at last at addresses that it makes up (/authorize, /token); it compares no
// issuer where the server is its own log-in server; it does not read whether answers name
// their issuer, nor the scopes of the server; it takes no issuer and no endpoint from settings; and
// it misses documents that are at the root of a server's address.
//
// The library reads of a challenge only where the metadata is, and the MCP SDK's reader (oauthex)
// gives up all challenges if one can't be read. So that is ours, too.
package oauth
