// Package project knows where files are: the user's, a project's, and the program's own for a
// project. A first caller makes [Paths] with [New].
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
