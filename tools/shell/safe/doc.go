// Package safe knows commands that only look: they change nothing, run nothing
// but themselves, and show nothing but what the user works on and what comes
// with the system.
//
// # Lists of what may be, never of what may not
//
// A command is safe if its program is listed here, each of its options is, in
// full, and its operands are what the program may be given. Whatever is not
// listed makes it one of which nothing is known.
//
// # Safe while it is held
//
// This package reads arguments and looks where paths lead. What a program is
// in truth it can't know, so a safe command may go unasked only while something
// keeps it from writing and from the network.
//
// # What runs is what was found
//
// Some commands are safe only with options that keep them from what a
// repository or the user's habits would have them do. Of each command the words
// are told that are to be run for it, the program by its path: nothing that
// another command does to PATH makes it another one.
package safe
