// Package shell runs command lines, in the foreground with [Run] and in the background with
// [Jobs], and leaves no process behind.
//
// # Commands don't prompt
//
// A command has an empty standard input and no controlling terminal, and its environment
// switches off pagers, colours and prompts of the usual programs. A program that would wait
// for input fails instead. Only a command that the user runs at a terminal ([Terminal]) can
// prompt.
//
// # No processes remain
//
// A command leads its own session. Its processes end with it: at a cancellation, at a
// timeout, and when the command ends. If a [Jobs] takes over the remaining processes, they
// end when it is closed. Processes get the signal to end, and are killed 200 ms later.
// Processes that left the session are found by their parents and by their open output, where
// the system shows these. A process without such ties is not found.
//
// If this process is killed, a small watcher process, started with the first command, ends
// the remaining groups. It knows only the groups: a process that has left its group
// continues.
//
// # Waiting
//
// [Run] waits for the command, not for its output to be closed: a server
// started with & does not hold up the call. All that was written before the
// command ended is read.
//
// # Output
//
// A command's two outputs become one text, in order of arrival, without terminal control
// sequences. A longer text is cut to its last 16 MiB, with a line at the end that says so.
// Blank lines before it and white space behind it are removed. Bytes that are no UTF-8 stay
// as they are. Of a line that a program redraws on a terminal, the first and the last state
// stay.
package shell
