// Package stage is what stands between gemline and a confined command: a small
// program of two stages, which starts the command and has no other task.
//
// The first stage is the process that gemline knows. It starts the second one
// in namespaces of its own, waits for it, says on standard error what went
// wrong, and ends as the command did. The second one is the first process of
// these namespaces. It builds what the command sees of the file system, gives
// up all rights in one thread, starts the command from that thread, and reaps
// processes until nothing lives there. Where namespaces can't be had, it becomes
// the command itself, with what the kernel holds without them.
//
// # All or nothing
//
// A [Spec] lists the layers to put on. If one can't be put on, the command does
// not run.
//
// # One death
//
// What the second stage watches over can't outlive it: the kernel ends a
// namespace of processes with its first one. It ends when its group is killed,
// and when the first stage is killed before the command is over.
package stage
