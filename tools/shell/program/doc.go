// Package program is a table of the effects of programs: which programs run others, write
// files, need a network, remove files, or are read-only. Lookups use only a program's name
// and arguments.
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
// Programs with the same description share an entry; further lines "program NAME, NAME" add
// names, and a blank line ends it. A name with a blank in it, as in "git clone", is a
// command of a program, under the program's first name. A name that ends in * matches by
// prefix.
//
// An option's line has all its spellings, the word VALUE, FILE or the like if it takes a
// value, and its [Effect]; an option without an Effect is harmless. Options with the same
// effect may share a line; commas are optional. "word" precedes an operand that is parsed
// like an option, as in of= FILE.
//
// The other lines describe the program: each word is a [Fact], and these kinds of lines have
// arguments.
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
// # Two parsers of options
//
// Where the position of a word matters, as behind a wrapper, [Program.Take] reads options
// as getopt does, and an option that is not in the entry ends the reading: the command
// could begin anywhere. For other programs only options with an Effect matter, and
// [Program.Matching] finds them also if they are shortened, or among other letters.
//
// # Normalised names
//
// [Fold] normalises the name of a program: upper case, .exe, the g of GNU. A name with a
// version keeps only facts that hold for every version, such as being a shell; its options
// may differ.
package program
