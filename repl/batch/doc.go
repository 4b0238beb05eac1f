// Package batch answers many prompts, each with a line of JSON. A first caller calls [Run].
//
// # One item, one run
//
// An item is carried out as a one-shot run is: an engine of its own, a session of its own, and
// its record is that run's json document. A fault of an item is in the record of that item, and
// the other items are carried out.
//
// # Recorded before printed
//
// The record of an item is on the disk, in its state, before it is printed. So a batch that was
// killed at any moment can be continued: printed items are not asked again, and results that wait
// for an earlier item wait on the disk, not in memory.
//
// # Read as needed
//
// The items are read one by one, when a worker is free.
package batch
