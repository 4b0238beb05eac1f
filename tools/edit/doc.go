// Package edit changes one text into another: it replaces a model's quotation, even when the
// quotation is not exact, and it shows the difference between two texts line by line, for
// people and, as a patch, for git.
//
// The package works on strings: it opens no file and knows no charset. The caller reads and
// writes.
//
// # Line endings
//
// Comparisons ignore line endings. Lines that an edit does not touch keep their ending, also
// in a text with mixed endings. Lines that are added or changed end as the lines they
// replace did, or else as most lines of the text do.
//
// # Bounded time
//
// Hostile quotations and texts may be slow to compare. The work of every function is
// bounded, by its input's size or by a constant. At a bound, a search finds nothing, and a
// difference is larger than necessary. In a text of more than a million lines, quotations
// are not searched line by line. No input makes a function panic.
package edit
