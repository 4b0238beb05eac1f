// Package sandbox confines commands: a command's rights are fixed before it starts, and the
// kernel or another program enforces them on it and all its processes. A first caller gets a
// [Sandbox] from [Choose].
//
// # What a Profile grants
//
// A confined command reads most of its user's files, writes only where its [Profile] allows,
// and reaches only its own servers over a network, unless its Profile has a network.
//
// # Confinement never fails silently
//
// The [State] of a Sandbox describes its confinement on this system, and names each layer that the kernel
// or a container forbids, with the reason. If a Sandbox can't confine a command as its State
// says, the command fails; it never runs unconfined.
package sandbox
