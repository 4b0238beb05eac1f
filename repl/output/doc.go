// Package output holds the one writer of each stream: everything that the program shows passes a
// [Writer]. A first caller chooses a [Mode] with [Decide] and makes a Writer with [New].
//
// # Nothing raw
//
// Text from outside (the model, files, programs) can't act on the terminal.
// Characters that would move the cursor, change a colour, reorder letters or hide between
// them is shown as an escape such as \x1b or \u{202e}. How the text was cut
// into pieces on its way makes no difference.
//
// # Shown text can be read back
//
// An escape stands for exactly the character that it names, so that the shown
// text tells the original. Two things look alike: an escaped character, and an
// escape in the original, such as \x1b in four characters; and likewise a line
// that is set off by "| ", and a line that came with "| ". To tell them apart,
// shown text would have to change when it is shown again. It never does,
// however many Writers it passes.
//
// # Whole lines
//
// A Writer knows whether the cursor is at the start of a line. Every message of
// the program begins at the start of a line, with one of the [Labels]. A line of
// outside text that begins like a message or a prompt is set off by "| ".
//
// # Broken between words
//
// [Writer.Prose] breaks lines where the terminal would, but between words. It
// counts columns with the escapes and the marks, as they are seen, and checks
// the start of a broken line like any other: no text can put a label at the
// start of a line. Only the current word is held back.
//
// # Two modes
//
// [Decide] chooses between plain mode, which is text and nothing else, and
// smart mode, which adds colour and breaks lines.
package output
