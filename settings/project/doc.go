// Package project is where things are: the user's files, a project's, and what the
// program keeps for one.
//
// # Nothing is touched before it is needed
//
// [Paths] are names. Only [Paths.Register] and [Paths.Once] write something.
//
// # Shared with other programs
//
// The registry of projects belongs to several programs at once. Each takes the
// same lock, keeps what it does not know, and leaves a damaged registry alone.
package project
