// Package auth chooses the credentials of requests, and stores the user's key.
//
// # Choosing opens no files
//
// [Choose] reads only settings and variables. Files, the keyring and the network are used only
// when a request, or the user, needs a credential.
//
// # Secrets
//
// No error text and no String method shows a key, a token or the value of a
// header field.
package auth
