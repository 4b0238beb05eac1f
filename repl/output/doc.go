// Package output holds the one writer of each stream: all output of the program passes a [Writer].
// A first caller chooses a [Mode] with [Decide] and makes a Writer with [New].
//
// # Outside text can't act on the terminal
//
// Text from outside (the model, files, programs) can't act on the terminal. Characters that would
// move the cursor, change a colour, reorder letters or hide between them are shown as escapes such
// as \x1b or \u{202e}. The result does not depend on the pieces in which the text arrives.
//
// # Escapes name the original characters
//
// An escape stands for exactly the character that it names. Two cases are ambiguous: an escape in
// the original text, such as \x1b in four characters, looks like an escaped character; and a line
// that begins with "| " looks like a line that was set off. To distinguish them, a Writer would
// have to change shown text when it shows the text again. It never does.
//
// # Messages begin at the start of a line
//
// A Writer knows whether the cursor is at the start of a line. Every message of
// the program begins at the start of a line, with one of the [Labels]. A line of
// outside text that begins like a message or a prompt is set off by "| ".
//
// # Lines are broken between words
//
// [Writer.Prose] breaks lines at the terminal's width, but between words. It counts the columns of
// visible escapes and marks, and checks the start of a broken line like any other: no text can put
// a label at the start of a line. Only the current word is held back.
//
// # Two modes
//
// [Decide] chooses between plain mode, which is text and nothing else, and
// smart mode, which adds colour and breaks lines.
package output
