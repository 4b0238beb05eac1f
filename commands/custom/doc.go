// Package custom reads the commands that people write: files with a prompt for the model, which a
// user sends by typing the file's name behind a slash.
//
// # Text in, parts out
//
// A first caller makes a [Library], which reads the files. [Command.Expand] makes the message.
// Files and the output of commands in a prompt come from [Sources], which judge them and ask the
// user, as for calls of the model.
//
// # Scanned once
//
// All marks of a prompt are found before the first is replaced. So no argument, file or command
// output can insert a command or a file.
//
// # A bad file disables no other
//
// A file that can't be used is skipped with a one-line warning, and the other files work.
package custom
