// Package charset makes text of the bytes of files, of standard input and of what commands
// print, whatever they are written in, and bytes of the text again. A caller begins with
// [Decode], or with a [Decoder] that knows the user's language and settings.
//
// # Nothing is lost
//
// An unedited text comes out as the bytes that it came from. Bytes that mean nothing are
// carried along as private characters. Where all that can't be promised, writing is refused.
package charset
