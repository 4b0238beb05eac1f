// Package batch answers many prompts, each with a line of JSON. A first caller calls [Run].
//
// # An item is answered like a one-shot run
//
// Each item has its own engine and session, and its record is the json document of a one-shot run.
// An error of an item is in the item's record, and the other items continue.
//
// # Recorded before printed
//
// The record of an item is stored in the batch's state, on the disk, before it is printed. So a
// batch that was killed at any moment can be continued: printed items are not asked again, and
// results that wait for an earlier item wait on the disk, not in memory.
//
// # Items are read as needed
//
// The items are read one by one, when a worker is free.
package batch
