// Package batch answers many prompts, each with a line of JSON.
//
// # One item, one run
//
// An item is carried out as a one-shot run is: an engine of its own, a session
// of its own, and its record is that run's json document. What one item does
// wrong, or what is wrong with it, is told in its own record and is nobody
// else's concern.
//
// # Told when kept
//
// The record of an item is on the disk, in its state, before it is printed.
// So a batch that was killed at any moment is gone on with: what was printed
// is not asked again, and the results that wait for an earlier item wait there
// and not in memory.
//
// # Read as needed
//
// The items are read one by one, when there is somebody to work on them.
package batch
