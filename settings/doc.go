// Package settings reads what the user wants: the command line, files of
// settings, and where the user's files and a project's are.
//
// # Nothing is rewritten
//
// Files of settings are read. Older names, comments and variables are dealt
// with in memory, and the user's bytes stay as they are.
//
// # Pure data
//
// Values come in as values (arguments, directories, a lookup of variables) and
// go out as values. Only commands/program and the sub-commands import this
// package, so that no other can reach for a setting that it was not given.
package settings
