// Package flags is the command line: the flags, their values and their help.
//
// # Names are compatible
//
// The names are those of the Gemini CLI. A flag of similar programs that gemline lacks is an error
// that names an alternative, so that nobody believes that it works.
//
// # A mistake is one line
//
// Words and flags may be mixed, and an invalid command line is a [UsageError].
package flags
