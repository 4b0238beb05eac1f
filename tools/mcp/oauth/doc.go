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
// # Our own reader of challenges
//
// That of the MCP SDK (oauthex) gives up all challenges if one can't be read, takes what ends
// with a backslash for no end, and brings another library for JSON.
package oauth
