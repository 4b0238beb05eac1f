// Package edit changes one text into another: it replaces what a model quotes,
// even when the quotation is not quite exact, and it tells line by line what
// is different between two texts, for people and, as a patch, for git.
//
// Text goes in and text comes out. The package opens no file and knows no
// charset; whoever calls it reads and writes.
//
// # Line endings
//
// Texts are compared without regard to how their lines end, and lines that an
// edit does not touch keep their ending, also where a text mixes several.
// Lines that are added or changed end as the lines they replace did, or else
// as most lines of the text do.
//
// # Bounded time
//
// A quotation, a text or both may have been chosen to be slow to compare. The
// work of every function is bounded, by its input's size or by a constant;
// where a bound is met, a search finds nothing and a difference is shown
// larger than it need be. In a text of more than a million lines, what is
// quoted is not looked for line by line. No input makes a function panic.
package edit
