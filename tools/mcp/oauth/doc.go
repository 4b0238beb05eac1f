// Package oauth adds the required token to requests to MCP servers. It gets the token by a
// log-in of the user, with a refresh token, or for a Google account. A first caller makes
// requests with [New], and logs in with a [Client].
//
// # Tokens go only to their server
//
// A token is sent only to the scheme, host and port that the settings name for the server
// and for which it was issued, never to the target of a redirect. It is never sent
// unencrypted to another machine.
//
// # Servers choose only public addresses
//
// A server names the addresses for the log-in, so they are checked: they must be https, and
// on the public web. Addresses in the user's settings are exempt, and so is this machine if
// the server runs on it. A violation ends the log-in; no alternative is tried.
//
// # One refresh at a time
//
// A refresh token may be valid only once. It is used under a lock that all gemlines share. A
// process that waited for the lock takes the token that the other process got.
//
// # Secrets
//
// Tokens, codes and client secrets are added to the redactor before use, and appear in no
// error. A server's error message is cut to one short line.
//
// # What the library does
//
// golang.org/x/oauth2 makes the log-in address, with PKCE, and gets and refreshes tokens. An
// exchange is the library's transport, and corrects these faults:
//
//   - It sends no resource and no audience with a refresh token (TestRefreshStays).
//   - It parses JSON with the media type text as a form (TestAnswersWithTokens).
//   - It repeats parameters that an address has already, and does not escape spaces and
//     bidirectional characters in the server's address (TestWhatIsSent).
//   - It puts whole responses into errors; an exchange keeps only the error's name and
//     description.
//
// The handler of mark3labs/mcp-go does the same and registers the program, which is one
// request here. It discovers the token endpoint again for a refresh, so a server could
// redirect the refresh token; it sends an empty scope, and adds a second question mark to an
// address with parameters. Corrections for that took 45 lines more than this package.
//
// Discovery is our own code, because the handler breaks rules there, too. After a violation
// it continues with the next address, and finally with invented addresses (/authorize,
// /token). It compares no issuer if a server is its own log-in server. It reads neither the
// scopes of the server nor whether answers name their issuer. It takes no issuer and no
// endpoint from settings, and misses documents at the root of a server. It would replace
// about 30 of 180 lines, and each rule would need a correction below it.
//
// Challenges are parsed here, too: the library reads only the address of the metadata, and
// the parser of the MCP SDK (oauthex) rejects all challenges if one is invalid.
package oauth
