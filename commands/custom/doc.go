// Package custom reads the commands that people write: files that say what is sent to
// the model when somebody types their name behind a slash.
//
// # Text in, parts out
//
// A first caller makes a [Library], which reads the files. [Command.Expand] makes the
// message. Files and the output of commands in a prompt come from [Sources], which judge
// and ask as they do for calls of the model.
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
