package talk

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"gemline/engine/text"
)

// longestLine is the longest line, in bytes.
const longestLine = 16 << 20

// A line is one line of the input.
type line struct {
	Number  int // counted from 1
	Message message
	Err     error // why there is no Message
	Size    int   // approximate memory, in bytes, while it waits

	ID string // the id in the line; "" if unreadable

	// If Err is about several consecutive lines, the number of the last.
	Through int
}

// overhead is the memory of a line beside its text.
const overhead = 256

// readLines reads lines until the end of r, or until a line is the last. It skips blank lines, and
// drops the text of a line that is too long. An error of r is the last Line.
func readLines(r io.Reader) iter.Seq[line] {
	return func(yield func(line) bool) {
		in := text.NewLines(r, '\n', longestLine)
		for n := 1; ; n++ {
			said, err := in.Next()
			if n == 1 {
				said = bytes.TrimPrefix(said, []byte("\ufeff"))
			}
			l := line{Number: n, Size: overhead}
			switch {
			case err == text.ErrLong:
				l.Err = fmt.Errorf("it is longer than %d MiB", longestLine>>20)
			case len(bytes.TrimSpace(said)) > 0:
				l.Message, l.ID, l.Err = decode(said)
				if l.Size += len(l.ID); l.Err == nil {
					l.Size += len(said)
				}
			}
			if (l.Message != nil || l.Err != nil) && !yield(l) {
				return
			}
			if _, last := l.Message.(endMessage); last || err == io.EOF {
				return
			}
			if err != nil && err != text.ErrLong {
				yield(line{Number: n, Err: fmt.Errorf("it can't be read: %w", err), Size: overhead})
				return
			}
		}
	}
}
