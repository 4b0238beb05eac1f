// Package flags is the command line: the flags, their values and their help.
//
// # Names that scripts know
//
// The names are those of the Gemini CLI. A flag that similar programs have, and
// gemline has not, is refused with an alternative, so that nobody believes it to
// work.
//
// # Mistakes are told in one line
//
// Words and flags may be mixed, and a senseless command line is a [UsageError].
package flags
