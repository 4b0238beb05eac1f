// Package custom reads the commands that people write: files that say what is sent to
// the model when somebody types their name behind a slash.
//
// # Text in, parts out
//
// [Load] reads the files, and [Command.Expand] makes the message. What a prompt takes
// from elsewhere, files and the output of commands, comes from a [World], which judges
// and asks as it does for calls of the model's.
//
// # Scanned once
//
// The marks of a prompt are found before any of them is replaced. So neither the
// arguments nor a file nor the output of a command can bring a command or a file in.
//
// # One bad file
//
// A file that can't be used is passed over with one line, and the others work.
package custom
