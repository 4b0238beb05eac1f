// Package programtest runs gemline as a process, for tests of the program as a whole.
//
// A package of tests calls [Main] from its TestMain. [Terminal] returns the program at a
// terminal against a server, and [Scripts] runs the txtar scripts of a directory, which
// may hold a dialogue at a terminal.
package programtest
