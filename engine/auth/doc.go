// Package auth decides how requests are paid for, and keeps the user's key.
//
// # Choosing touches nothing
//
// [Choose] looks at settings and variables only. Files, the keyring and the
// network are left alone until a request, or the user, asks for a credential.
//
// # Secrets
//
// No error text and no String method shows a key, a token or the value of a
// header field.
package auth
