// Package flags is the command line: which flags there are, what one says, and what
// is said about them.
//
// # Names that scripts know
//
// The names are those of the Gemini CLI. A flag that other programs of this
// kind have, and this one has not, is refused with what to do instead: nobody
// who gives it is left to believe that it holds.
//
// # Mistakes are told in one line
//
// Words and flags may be mixed, and what makes no sense is a [UsageError].
package flags
