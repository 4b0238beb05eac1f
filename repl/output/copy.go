package output

import (
	"bytes"
	"slices"
	"strings"
)

// The characters around a label in a copy. No text from outside holds these: they are shown as
// escapes.
const (
	copiedLabel = "\x01"
	copiedText  = "\x02"
)

// CopyTo has everything that is shown from here on also go to another terminal by
// [ShowCopy], without styles, and without the line ends that are made for the width of
// this one. Prompts do not, nor does what [Writer.Terminal] is written.
func (w *Writer) CopyTo(to func([]byte)) { w.gate.line.copying, w.copyTo = true, to }

// Copied returns a message as it stands in a copy.
func Copied(l Label, text string) []byte {
	return []byte(copiedLabel + string(l) + copiedText + strings.TrimSuffix(Sanitize(text), "\n") + "\n")
}

// CopiedText returns lines without a label as they stand in a copy.
func CopiedText(text string) []byte {
	return []byte(strings.TrimSuffix(Sanitize(text), "\n") + "\n")
}

// ShowCopy shows a piece of what another Writer has copied. The piece may be anything: it is
// text from outside, but for labels that stand where a message may begin.
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
