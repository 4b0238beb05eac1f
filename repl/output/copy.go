package output

import (
	"bytes"
	"slices"
	"strings"
)

// The characters around a label in a copy. Outside text can't contain these: they are shown as
// escapes.
const (
	copiedLabel = "\x01"
	copiedText  = "\x02"
)

// CopyTo copies all later output to another terminal, in the form for [ShowCopy]: without styles,
// and without line breaks for this terminal's width. Prompts and output of [Writer.Terminal] are
// not copied.
func (w *Writer) CopyTo(to func([]byte)) { w.gate.line.copying, w.copyTo = true, to }

// Copied returns a message in the form of a copy.
func Copied(l Label, text string) []byte {
	return []byte(copiedLabel + string(l) + copiedText + strings.TrimSuffix(Sanitize(text), "\n") + "\n")
}

// CopiedText returns lines without a label in the form of a copy.
func CopiedText(text string) []byte {
	return []byte(strings.TrimSuffix(Sanitize(text), "\n") + "\n")
}

// ShowCopy prints a piece of another Writer's copy. Except for labels at the start of a message,
// the piece is outside text.
func ShowCopy(w *Writer, b []byte) {
	for len(b) > 0 {
		text, rest, _ := bytes.Cut(b, []byte(copiedLabel))
		w.Text(string(text))
		label, behind, whole := bytes.Cut(rest, []byte(copiedText))
		if b = rest; whole && slices.Contains(Labels(), Label(label)) {
			w.Begin(Label(label))
			b = behind
		}
	}
}
