// Package settings is what the user wants, as values: what files of settings,
// variables of the environment and the command line say together, and why. A first caller gives
// the files to [Load].
//
// # Nothing is rewritten
//
// Files of settings are read. Older names, comments and variables are dealt
// with in memory, and the user's bytes stay as they are. Only [Source.SetKey]
// and [Source.UnsetKey] change a file, one key of it.
//
// # What can't be understood counts for nothing
//
// A value of the wrong type is a warning and counts as not given, except where it
// may have been meant to forbid something: see [Settings.StrictError].
//
// # A project adds protection
//
// What a project's file says can tighten what the user and the machine say, and
// loosens nothing.
//
// # Values go in and out
//
// Arguments, directories and a lookup of variables come in as values. Only
// commands/program and the sub-commands import this package, so that no other
// can reach for a setting that it was not given.
package settings
