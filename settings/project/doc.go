// Package project has the paths of files: the user's, a project's, and the program's own for a
// project. A first caller makes [Paths] with [New].
//
// # Making paths does not touch the disk
//
// [Paths] are names. Only [Paths.Register] and [Paths.Once] write something.
//
// # The registry is shared with other programs
//
// Several programs use the registry of projects. Each takes the same lock, preserves unknown
// fields, and does not change a damaged registry.
package project
