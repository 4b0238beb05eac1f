// Package sandbox confines commands: a command's rights are fixed before it starts, and the
// kernel or another program enforces them on it and all its processes.
//
// # What a Profile grants
//
// A confined command reads most of its user's files, writes only where its [Profile]
// allows, and reaches nothing but itself over a network unless its Profile has a network.
//
// # Never silently less
//
// What a [Sandbox] does on this system is its [State]. A layer that the kernel
// or a container forbids is named there with the reason; a Sandbox that can't
// hold what it says makes the command fail, and never runs it unconfined.
package sandbox
