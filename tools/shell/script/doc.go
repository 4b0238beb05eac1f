// Package script reads a command line for the shell before it runs, and finds the commands in it.
// A first caller calls [Read]. The package reads the text alone, and no file, variable or
// program.
//
// # Three classes
//
// A plain script is a list of simple commands whose every word is known, joined by ; && || |
// and newlines. It is run in its parsed form, [Script.Canonical], so that a difference
// between this parser and the shell can't run another command. In a readable script, all
// commands are known, including commands in substitutions, loops, functions and wrappers
// such as sudo. In an opaque script, some commands are unknown.
//
// # Fail closed
//
// Anything unknown to this package or the book of programs makes a script opaque: a kind of
// syntax, an option of a wrapper, a character that shells parse differently, a script too
// long or too deep. Its readable parts are still reported.
package script
