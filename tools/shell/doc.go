// Package shell runs command lines, in the foreground with [Run] and in the background with
// [Jobs], and leaves no process behind.
//
// # Nobody to ask
//
// A command has an empty standard input and no controlling terminal, and its
// environment tells the usual programs not to page, not to colour and not to
// ask. A program that would wait for a person fails instead. A command that the user runs
// at a terminal ([Terminal]) is the exception: it has the user to ask.
//
// # One group, one end
//
// A command leads a session of its own. Whatever it started ends with it: at
// a cancellation, at a time limit, and when the command is over, unless a
// [Jobs] takes over what still runs, and then when that is closed. Processes
// are told to end first, and made to 200 ms later. What left the session is
// found by its parents and by the output it holds, where the system shows
// these; a process that cut every tie is beyond this package.
//
// If this process is killed, which nothing can catch, a small watcher that was
// started beside the first command ends the groups that are left. It knows no
// more than the groups: a process that has left its group goes on then.
//
// # Waiting
//
// [Run] waits for the command, not for its output to be closed: a server
// started with & does not hold up the call. All that was written before the
// command ended is read.
//
// # Output
//
// What a command writes to its two outputs is one text, in order of arrival,
// without terminal control sequences. The text is bounded: of a longer one the
// last 16 MiB are kept, and a line at the end says so. Blank lines before it and
// white space behind it are left out. Bytes that are no UTF-8 stay as they are. Of a
// line that a program draws over and over on a terminal, the first and the last state
// stay.
package shell
