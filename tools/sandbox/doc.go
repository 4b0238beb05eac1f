// Package sandbox confines commands: what a command may do is decided before
// it starts, and held against it and all that it starts by something that it
// can't talk out of it, the kernel or another program.
//
// # What a Profile grants
//
// A confined command reads most of what its user reads, writes where its
// [Profile] says and nowhere else, and reaches nothing but itself over a
// network unless its Profile has one.
//
// # Never silently less
//
// What a [Sandbox] does on this system is its [State]. A layer that the kernel
// or a container forbids is named there with the reason; a Sandbox that can't
// hold what it says makes the command fail, and never runs it unconfined.
package sandbox
