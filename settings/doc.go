// Package settings joins settings files, variables of the environment and the command line into
// values, and explains their origins. A first caller gives the files to [Load].
//
// # Files are not rewritten
//
// Older names, comments and variables are handled in memory; the user's files stay unchanged. Only
// [Source.SetKey] and [Source.UnsetKey] change a file, one key of it.
//
// # An invalid value counts as not set
//
// A value of a wrong type causes a warning. If it may have been meant to forbid something, it is an
// error: see [Settings.StrictError].
//
// # A project can only add protection
//
// A project's file can strengthen the protection of the user and the machine, but not weaken it.
//
// # Inputs and results are values
//
// Arguments, directories and a lookup of variables come in as values. Only commands/program and the
// sub-commands import this package, so that no other package can read a setting that it did not
// get.
package settings
