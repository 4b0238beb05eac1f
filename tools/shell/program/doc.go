// Package program is the book of what programs do: which run others, write
// files, want a network, take something away, or only look. It is asked by
// name and by the words that a program is given, and looks at nothing else.
//
// The book is text, in the directory book. To add a program, add an entry with
// an example, and run the tests of tools/shell/script: they read each example
// as a command line and compare its description.
//
// # One entry a program, one line an option
//
//	program sort
//	  looks
//	  -k --key, -S, -t, -T VALUE
//	  -o --output FILE               writes
//	  --compress-program COMMAND     runs
//	  example: sort -o out in => readable, writes out
//
// Programs that are alike share an entry; further lines "program NAME, NAME" add names, and
// a blank line ends it. A name with a blank in it, as in "git clone", is a command of a
// program, under the program's first name. A name that ends in * matches by prefix.
//
// An option's line has all its spellings, the word VALUE, FILE or the like if it takes a
// value, and its [Effect]; an option without an Effect is harmless. Options with the same
// effect may share a line, and commas are for the reader. "word" precedes an operand that
// is read like an option, as in of= FILE.
//
// The other lines say what the program does: each word is a [Fact], and seven
// lines have more to say.
//
//	runs NAME=VALUE... FILE COMMAND     it runs the command behind these and its options
//	writes each                         to its operands: each, last, or the last or a link here
//	looks at list show                  with one of these as its first word
//	lists at nothing -v                 the same, or without any word
//	records at push pop                 the same
//	dials at pull push                  with one of these words among its arguments
//	as docker                           its commands are those of another
//	grammar find                        code in tools/shell/script reads its arguments
//
// NAME=VALUE..., a NUMBER, "[-c]" where a script may replace the command, or an operand by
// any other name may precede COMMAND. SCRIPT stands for a command given as a script, and
// INPUT... behind it for arguments that are unknown before the run.
//
// A line "variable NAME NAME" belongs to no program: these variables make
// programs run others.
//
// # Two manners of reading options
//
// Where the position of a word matters, as behind a wrapper, [Program.Take] reads options
// as getopt does, and an option that is not in the entry ends the reading: the command
// could begin anywhere. For other programs only options with an Effect matter, and
// [Program.Matching] finds them also if they are shortened, or among other letters.
//
// # One fold of names
//
// [Fold] makes one of the names that a program goes by: in capitals, with .exe,
// with the g of GNU. A version at the end leaves a shell a shell, and does not
// say that options are the same.
package program
