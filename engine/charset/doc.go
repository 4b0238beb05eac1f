// Package charset decodes files, standard input and the output of commands from any encoding, and
// encodes the text again. A caller begins with [Decode], or with a [Decoder] that knows the
// user's language and settings.
//
// # Nothing is lost
//
// An unedited text encodes to the bytes that it was decoded from. Private characters represent
// invalid bytes. If this can't be guaranteed, encoding fails.
package charset
