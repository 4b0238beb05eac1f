// Package stage stands between gemline and a confined command: a small
// program of two stages, which starts the command and has no other task. A first caller writes a
// [Spec] and starts the helper, whose main calls [Main].
//
// gemline starts the first stage. It starts the second stage in new namespaces, waits for
// it, reports errors on standard error, and ends as the command did. The second stage is the
// first process of the namespaces. It builds the command's file system, gives up all rights
// in one thread, starts the command from that thread, and reaps processes until none is
// left. Without namespaces the second stage becomes the command itself, with the kernel's
// other layers.
//
// # All or nothing
//
// A [Spec] lists the layers to put on. If one can't be put on, the command does
// not run.
//
// # No process outlives the command's stage
//
// No process of the namespaces outlives the second stage: the kernel ends a PID namespace
// with its first process. The second stage ends when its group is killed, and when the
// first stage is killed before the command is over.
package stage
