// Package script reads a command line for the shell before it runs, and finds the commands in it.
// A first caller calls [Read]. The package reads the text alone, and no file, variable or
// program.
//
// # Three classes
//
// A plain script is a list of simple commands whose every word is known,
// joined by ; && || | and newlines. It is run from what was read here,
// [Script.Canonical], so that no difference between this reader and the shell
// can make something else run. A readable script may hold anything whose
// commands can be told, those in substitutions, loops, functions and wrappers
// such as sudo included. Of an opaque one they can't all be told.
//
// # Fail closed
//
// Whatever is not known here, or in the book of programs, makes a script
// opaque: a kind of syntax, an option of a wrapper, a character that readers
// disagree about, a script too long or too deep. Its readable parts are reported all the
// same.
package script
