// Package markdown turns an answer in Markdown into text for a printer of lines: it keeps the
// words, and drops markup or describes it in words. It prints nothing; it returns [Span]s, in which
// colours are a hint.
//
// # For listeners and for viewers
//
// Without a [View], words describe the dropped markup. With a View, tables have columns, code has
// colours, and a span says where its line may be broken. The printer breaks lines, since it knows
// the rest of the line.
//
// # Returned text is final
//
// A [Renderer] takes the text in pieces and returns the spans that can be shown at once. Returned
// spans never change, and do not depend on the pieces into which the text was cut.
//
// # goldmark parses
//
// goldmark decides what every line is. It runs on another goroutine and waits for each new line. If
// a line can only be the text of a paragraph, goldmark gets the beginning of the line, up to the
// first character that decides so. The rest is shown while the line still grows.
//
// # Text is held back while its meaning is open
//
// A paragraph is shown piece by piece, and goldmark reads each piece alone. A piece may end at a
// blank, unless goldmark has left an open *, `, [ or < before it, which later text could close. So
// a piece has the same meaning alone as in the whole text. An emphasis is shown when it ends; an
// unclosed mark holds text back until the end of the paragraph, at most 4 KB.
//
// In a View a table is also held back, up to 100 rows or 16 KB, to find the width of its columns.
//
// # Differences from other parsers
//
// A reference such as [text][1] stays unchanged, and so does its definition, which may be pages
// below. A table's header line begins with a bar. A ~ alone is a tilde. Lists are 16 deep at the
// most, quotes 32.
package markdown
