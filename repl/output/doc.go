// Package output holds the one writer of each stream: everything that the
// program shows passes a [Writer].
//
// # Nothing raw
//
// Text from outside (the model, files, programs) can't act on the terminal.
// What would move the cursor, change a colour, reorder letters or hide between
// them is shown as an escape such as \x1b or \u{202e}. How the text was cut
// into pieces on its way makes no difference.
//
// # What was shown is what was there
//
// An escape stands for the one character that it names, so that a text can be
// told from what is shown of it. Two things look alike: what is escaped, and
// what was written like an escape to begin with, such as \x1b in four
// characters; and likewise a line that is set off by "| ", and one that came
// so. To tell these apart, text that has been shown would have to change when
// it is shown again. It never does, whatever number of Writers it passes.
//
// # Whole lines
//
// A Writer knows whether the cursor stands at the start of a line. A message
// of the program always begins there, with one of the [Labels]. A line of
// outside text that begins like one, or like a prompt, is set off by "| ".
//
// # Broken between words
//
// [Writer.Prose] breaks lines where the terminal would, but between words. It
// counts columns behind the escapes and the marks, since they are what is seen,
// and a line that begins so is looked at like any other: no text can have a
// label put at the start of a line. The word that is written is held back, and
// nothing else.
//
// # Two modes
//
// [Decide] chooses between plain mode, which is text and nothing else, and
// smart mode, which adds colour and breaks lines.
package output
