// Package flags is the command line: the flags, their values and their help.
//
// # Names are compatible
//
// The names are those of the Gemini CLI. If a command line has a flag of a similar program that
// gemline lacks, the error names an alternative.
//
// # A mistake is one line
//
// Words and flags may be mixed, and an invalid command line is a [UsageError].
package flags
