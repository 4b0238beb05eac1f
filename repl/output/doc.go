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
// # Whole lines
//
// A Writer knows whether the cursor stands at the start of a line. A message
// of the program always begins there, with one of the [Labels]. A line of
// outside text that begins like one, or like a prompt, is set off by "| ".
//
// # Two modes
//
// [Decide] chooses between plain mode, which is text and nothing else, and
// smart mode, which adds colour.
package output
