// Package markdown turns an answer in Markdown into text for a printer of
// lines: its words are kept, mere markup is dropped or put in words.
// It prints nothing; it returns [Span]s, in which colours are a hint.
//
// # Heard or seen
//
// Without a [View] the meaning of dropped markup is said in words. With
// one it is shown: tables stand in columns, code in colours, and a span says
// where its line may be broken. Who breaks it is the printer, which knows what
// is on the line.
//
// # One pass
//
// A [Renderer] takes the text in pieces and returns the spans that can be shown at once.
// Returned spans are final, and how the text was cut makes no difference.
//
// # The library reads
//
// goldmark decides what every line is. It runs beside the caller and stops
// wherever it needs a line that has not come. If a line can only be the text of
// a paragraph, goldmark gets its head, up to the first character that settles
// that, and the rest is shown while the line still grows.
//
// # Held back
//
// A paragraph is shown piece by piece, and goldmark reads each piece alone. A
// piece may end at a blank, if goldmark leaves no *, `, [ or < before it as
// text that later text could still close. So a piece alone means the same as in
// the whole. An emphasis is shown when it ends; an unclosed mark holds the text
// back to the end of the paragraph, but never more than 4 KB.
//
// In a View a table is held back besides, up to 100 rows or 16 KB: before that
// nobody knows how wide its columns are.
//
// # What differs from other readers
//
// A reference such as [text][1] stays as it is written, and so does the line
// that defines it, which may be pages below. A table's header line begins with
// a bar. A ~ alone is a tilde. Lists are 16 deep at the most, quotes 32.
package markdown
